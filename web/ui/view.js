// What a page gets: its place in the document, its address, and the time until it is left.
import {setKey, dropKey} from "./base/keys.js";
import {plainText} from "./base/text.js";
import {currentNamespace} from "./base/urls.js";
import {atMostOncePerSecond, follow, isFrozen} from "./api/live.js";

export class View {
  constructor({id, element, navigate}) {
    Object.assign(this, {id, element, navigate});
    this.control = new AbortController();
    this.signal = this.control.signal;
    this.keys = [];
  }

  get query() {
    return new URL(location.href).searchParams;
  }

  get namespace() {
    return currentNamespace();
  }

  // Changes the query of the address without leaving the page; empty values leave it.
  setQuery(changes, {push = false} = {}) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined || value === null || value === "") url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    if (url.href === location.href) return;
    if (push) history.pushState(null, "", url);
    else history.replaceState(null, "", url);
  }

  setTitle(text) {
    document.title = `${plainText(text)} · FlowFabric`;
  }

  key(keys, text, act) {
    this.keys.push(keys);
    setKey(keys, text, act);
  }

  // Loads at once, and again when something happens that the filter names, at most once a second.
  // `load` shows its own failures. Returns what asks for another load.
  refreshOn(filter, load, onEvents = () => {}) {
    const ask = atMostOncePerSecond(load, this.signal);
    follow({
      filter: {namespace: this.namespace, ...filter},
      onEvents: (events) => {
        onEvents(events);
        ask();
      },
      onGap: ask,
      signal: this.signal,
    });
    ask();
    return ask;
  }

  // For what has no events: asks again after each interval while somebody looks.
  refreshEvery(interval_ms, load) {
    const ask = atMostOncePerSecond(load, this.signal);
    const timer = setInterval(() => document.hidden || isFrozen() || ask(), interval_ms);
    const onVisible = () => document.hidden || ask();
    document.addEventListener("visibilitychange", onVisible);
    this.signal.addEventListener("abort", () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", onVisible);
    });
    ask();
    return ask;
  }

  close() {
    this.control.abort();
    this.keys.forEach(dropKey);
  }
}
