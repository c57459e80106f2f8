// A proxy in front of a server that adds a prefix to its paths.
import http from "node:http";

export async function startProxy(target, prefix) {
  const {hostname, port} = new URL(target);
  const proxy = http.createServer((request, reply) => {
    if (!request.url.startsWith(`${prefix}/`)) return reply.writeHead(404).end();
    const onward = http.request(
      {hostname, port, method: request.method, path: request.url.slice(prefix.length), headers: request.headers},
      (got) => {
        reply.writeHead(got.statusCode, got.headers);
        got.pipe(reply);
      },
    );
    onward.on("error", () => reply.writeHead(502).end());
    reply.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${proxy.address().port}${prefix}`,
    stop: () => (proxy.closeAllConnections(), proxy.close()),
  };
}
