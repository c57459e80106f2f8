// What happens, as it happens. A page follows one stream of events; tabs that follow the same share it: one of them
// reads it and tells the others. A hidden tab follows none and catches up when it is looked at again. So any number
// of tabs leaves connections for requests.
import {serverRoot} from "../base/urls.js";
import {parseJson} from "./http.js";
import {serverEvents} from "./sse.js";

const batch_ms = 200;
const pending_max = 20_000;
const retry_ms = [500, 1000, 2000, 5000];

let frozen = false;
const watchers = new Set(); // of freezing and of the connection
let connection = "idle"; // idle, live, lost

export const isFrozen = () => frozen;
export function onLiveState(watch, signal) {
  watchers.add(watch);
  if (signal) signal.addEventListener("abort", () => watchers.delete(watch));
}
const tell = () => watchers.forEach((watch) => watch({frozen, connection}));

const followers = new Set();

export function setFrozen(on) {
  frozen = on;
  tell();
  if (!on) followers.forEach((follower) => follower.thaw());
}

function setConnection(state) {
  if (connection === state) return;
  connection = state;
  tell();
}

const sleep = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), done()), {once: true});
  });

class Follower {
  // onEvents(list) gets what happened; onGap() is called when something may have been missed.
  // onRefused(problem): the filter is wrong, or the caller may not follow.
  constructor({filter, onEvents, onGap, onRefused = () => {}}) {
    Object.assign(this, {
      filter,
      onEvents,
      onGap,
      onRefused,
      after: undefined,
      pending: [],
      overflow: false,
      timer: null,
      leads: false,
      followed: false,
    });
    this.followWhenVisible = () => (document.hidden ? this.stop() : this.start());
  }

  start() {
    if (this.control) return;
    this.control = new AbortController();
    this.run(this.control.signal);
  }

  stop() {
    if (this.control) this.control.abort();
    this.control = null;
    setConnection("idle");
  }

  async run(signal) {
    if (!navigator.locks) return this.lead(signal, () => {}); // a page that is not from a secure origin
    const name = `ff-events ${serverRoot.href} ${JSON.stringify(this.filter)}`;
    const channel = new BroadcastChannel(name);
    signal.addEventListener("abort", () => channel.close());
    channel.addEventListener("message", ({data}) => this.hear(data, channel));
    channel.postMessage({ask: true});
    const lead = () => {
      this.leads = true;
      // Between the stream of another tab, which said nothing yet, and the next one.
      if (this.followed && this.after === undefined) this.pushGap();
      return this.lead(signal, (said) => signal.aborted || channel.postMessage(said));
    };
    await navigator.locks.request(name, {signal}, lead).catch(() => {}); // left while it waited
    this.leads = false;
  }

  // What the tab says that reads the stream for this one, or a tab that wants to know how it stands.
  hear(said, channel) {
    if (said.ask) return void (this.leads && channel.postMessage({connection}));
    this.followed = true;
    if (said.connection) return setConnection(said.connection);
    this.take(said.message);
  }

  // Reads the stream, and tells `others` the same.
  async lead(signal, others) {
    const say = (state) => {
      setConnection(state);
      others({connection: state});
    };
    for (let failures = 0; !signal.aborted;) {
      const opened = Date.now();
      try {
        for await (const message of serverEvents("v1/events", {query: {...this.filter, after: this.after}, signal})) {
          if (message.event === "open") {
            say("live");
            continue;
          }
          this.take(message);
          others({message});
        }
      } catch (problem) {
        if (signal.aborted) return;
        if (problem.status >= 400 && problem.status < 500 && problem.status !== 429) return this.refused(problem);
      }
      if (signal.aborted) return;
      say("lost");
      failures = Date.now() - opened > 5000 ? 0 : failures + 1;
      await sleep(retry_ms[Math.min(failures, retry_ms.length - 1)], signal);
      if (this.after === undefined) this.pushGap();
    }
  }

  take(message) {
    if (message.id) this.after = message.id;
    if (message.event === "missed") this.pushGap();
    else this.push(parseJson(message.data));
  }

  // A place that another server does not know begins anew; everything else stays refused.
  refused(problem) {
    setConnection("lost");
    if (problem.field !== "after") return this.onRefused(problem);
    this.after = undefined;
    this.pushGap();
    this.stop();
    this.start();
  }

  push(event) {
    if (this.pending.length < pending_max) this.pending.push(event);
    else this.overflow = true;
    this.schedule();
  }

  pushGap() {
    this.overflow = true;
    this.schedule();
  }

  schedule() {
    if (frozen || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      if (!frozen) this.deliver();
    }, batch_ms);
  }

  deliver() {
    const events = this.pending;
    const gap = this.overflow;
    this.pending = [];
    this.overflow = false;
    if (events.length > 0) this.onEvents(events);
    if (gap) this.onGap();
  }

  thaw() {
    if (this.pending.length > 0 || this.overflow) this.schedule();
  }
}

// Follows until the signal is aborted.
export function follow({filter, onEvents, onGap, onRefused, signal}) {
  const follower = new Follower({filter, onEvents, onGap, onRefused});
  followers.add(follower);
  document.addEventListener("visibilitychange", follower.followWhenVisible);
  const onVisible = () => document.hidden || follower.after !== undefined || onGap();
  document.addEventListener("visibilitychange", onVisible);
  follower.followWhenVisible();
  signal.addEventListener("abort", () => {
    document.removeEventListener("visibilitychange", follower.followWhenVisible);
    document.removeEventListener("visibilitychange", onVisible);
    clearTimeout(follower.timer);
    follower.stop();
    followers.delete(follower);
  });
  return follower;
}

// Calls `load` at most once a second, however often it is asked; never two at a time.
export function atMostOncePerSecond(load, signal) {
  let last = 0;
  let timer = null;
  let busy = false;
  let again = false;
  const run = async () => {
    timer = null;
    if (signal.aborted) return;
    if (busy) return void (again = true);
    busy = true;
    last = Date.now();
    try {
      await load();
    } finally {
      busy = false;
      if (again) {
        again = false;
        ask();
      }
    }
  };
  const ask = () => {
    if (timer || signal.aborted) return;
    timer = setTimeout(run, Math.max(0, last + 1000 - Date.now()));
  };
  return ask;
}
