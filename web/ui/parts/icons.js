// Drawings of 16 × 16, made of strokes.
import {s} from "../base/dom.js";

const paths = {
  overview: "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z",
  executions: "M2 4h12M2 8h12M2 12h8",
  flows: "M3 3h3v3H3zM10 10h3v3h-3zM10 3h3v3h-3zM6 4.5h4M11.5 6v4",
  approvals: "M8 14s5-2.2 5-6V3.7L8 2 3 3.7V8c0 3.8 5 6 5 6zM5.8 8l1.6 1.6L10.4 6.5",
  lanes: "M2 3v10M14 3v10M8 3v2M8 7v2M8 11v2",
  workers: "M4 4h8v8H4zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5",
  budgets: "M2 13h12M4 13V8M8 13V3M12 13V6",
  quotas: "M2.5 12a6.5 6.5 0 1 1 11 0M8 9l3-3",
  events: "M1.5 8h3l2-5 3 10 2-5h3",
  system:
    "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4",
  check: "M3 8.5l3.5 3.5L13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3.5l2 1.5",
  circle: "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3z",
  dot: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  play: "M5 3l8 5-8 5z",
  pause: "M5 3v10M11 3v10",
  skip: "M3 4l5 4-5 4zM11 4v8",
  stop: "M4 4h8v8H4z",
  minus: "M4 8h8M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2z",
  link: "M5 11l6-6M6 5h5v5",
  hourglass: "M4 2h8M4 14h8M5 2c0 4 6 4 6 0M5 14c0-6 6-6 6 0",
  gate: "M3 2v12M13 2v12M3 6h10M3 10h10",
  build: "M3 13l5-5M7 4l5 5 1.5-1.5-5-5z",
  copy: "M5 5h8v8H5zM3 11V3h8",
  menu: "M2 4h12M2 8h12M2 12h12",
  help: "M6 6a2 2 0 1 1 2.8 1.9c-.6.3-.8.6-.8 1.6M8 12v.5",
  sliders: "M2 5h6M12 5h2M2 11h2M8 11h6M10 3v4M6 9v4",
  warning: "M8 2.5L14.5 13.5h-13zM8 6.5v3.5M8 11.5v.5",
  plus: "M8 3v10M3 8h10",
  less: "M3 8h10",
  fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M3 13h10",
};

export function icon(name) {
  const attributes = {class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true"};
  return s("svg", attributes, s("path", {d: paths[name] || paths.dot}));
}
