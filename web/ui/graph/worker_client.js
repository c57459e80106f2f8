// Asks the worker for layouts; only the newest question counts.
const script = new URL("layout_worker.js", import.meta.url);

// The page may start no other script.
const scripts = window.trustedTypes
  ? window.trustedTypes.createPolicy("ff-worker", {createScriptURL: () => script.href})
  : {createScriptURL: () => script.href};

let worker = null;
let asked = 0;
let answer = () => {};
let refuse = () => {};

function start() {
  worker = new Worker(scripts.createScriptURL(""), {type: "module"});
  worker.addEventListener("message", ({data}) => data.number === asked && answer(data.made));
  worker.addEventListener("error", () => {
    worker = null;
    refuse(new Error("the layout could not be made; reload the page"));
  });
}

export function layoutInWorker(graph) {
  if (!worker) start();
  const number = ++asked;
  return new Promise((resolve, reject) => {
    answer = resolve;
    refuse = reject;
    worker.postMessage({number, graph});
  });
}
