// Where things are. Everything follows from where this file came from, so a path prefix needs no setting.

// …/ui/assets/VERSION/base/urls.js
export const uiRoot = new URL("../../../", import.meta.url);
export const serverRoot = new URL("../", uiRoot);

// A path with its values encoded: path`v1/executions/${id}/why`.
export const path = (texts, ...values) =>
  texts.reduce((made, text, at) => made + encodeURIComponent(values[at - 1]) + text);

function withQuery(url, query) {
  for (const [name, value] of Object.entries(query || {}))
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  return url;
}

export const apiUrl = (where, query) => withQuery(new URL(where, serverRoot), query);

// The namespace that all pages look at is part of every link.
export const currentNamespace = () => new URL(location.href).searchParams.get("ns") || "";

// The address of a page: href("executions", {query: {state: "failed"}}), href("flows", {id}).
export function href(page, {id, query} = {}) {
  const where = page === "overview" ? "" : encodeURIComponent(page) + (id ? `/${encodeURIComponent(id)}` : "");
  return withQuery(new URL(where, uiRoot), {ns: currentNamespace(), ...query}).href;
}

// {page, id} of an address of this dashboard, or null.
export function readAddress(url) {
  if (url.origin !== uiRoot.origin || !url.pathname.startsWith(uiRoot.pathname)) return null;
  const rest = url.pathname.slice(uiRoot.pathname.length).split("/");
  try {
    return {page: decodeURIComponent(rest[0]) || "overview", id: decodeURIComponent(rest[1] || "")};
  } catch {
    return {page: "?", id: ""};
  }
}
