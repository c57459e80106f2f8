// The HTTP API: for each operation its method and path, and the JSON fields of request and reply.
// Server, remote engine and the OpenAPI document all work from here.
#pragma once

#include "http/endpoints.hpp"
#include "http/wire_admission.hpp"
#include "http/wire_replies.hpp"
#include "http/wire_requests.hpp"
