// Siblings as one: nodes of one kind with the same nodes before and after them are drawn as one, ×N, until somebody
// opens it.

const fold_min = 4;

function add(lists, key, value) {
  if (lists.has(key)) lists.get(key).push(value);
  else lists.set(key, [value]);
}

const keyOf = (node, after) =>
  `${node.kind}|${node.after
    .map(({node: name, on}) => `${name}/${on || ""}`)
    .sort()
    .join(",")}|${(after.get(node.name) || []).join(",")}`;

// {items: [{key, nodes: […]}], edges: [[from, to]]} with items in the order of their first nodes.
export function fold(nodes, opened) {
  const after = new Map();
  for (const node of nodes) for (const {node: name} of node.after) add(after, name, node.name);
  const groups = new Map();
  for (const node of nodes) add(groups, keyOf(node, after), node);
  const items = [];
  for (const [key, members] of groups) {
    if (members.length >= fold_min && !opened.has(key)) items.push({key, nodes: members});
    else
      items.push(
        ...members.map((node) => ({key: node.name, nodes: [node], group: members.length >= fold_min ? key : null})),
      );
  }
  return {items, edges: edgesBetween(items)};
}

function edgesBetween(items) {
  const itemOf = new Map();
  items.forEach(({nodes}, at) => nodes.forEach(({name}) => itemOf.set(name, at)));
  const edges = new Map();
  items.forEach(({nodes}, to) => {
    for (const node of nodes)
      for (const {node: name} of node.after) {
        const from = itemOf.get(name);
        if (from !== undefined && from !== to) edges.set(`${from}>${to}`, [from, to]);
      }
  });
  return [...edges.values()];
}

// What a group looks like: the state that needs a look most.
const order = [
  "failed",
  "expired",
  "active",
  "suspended",
  "rate_limited",
  "delayed",
  "waiting",
  "waiting_children",
  "cancelled",
  "skipped",
  "completed",
];

export const stateOf = ({nodes}) =>
  nodes.reduce((worst, {state}) => (order.indexOf(state) < order.indexOf(worst) ? state : worst), nodes[0].state);

export function countsOf({nodes}) {
  const counts = new Map();
  for (const {state} of nodes) counts.set(state, (counts.get(state) || 0) + 1);
  return order.filter((state) => counts.has(state)).map((state) => [state, counts.get(state)]);
}
