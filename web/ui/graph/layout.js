// A layered drawing of a graph without circles, from left to right.
//
// 1. Layers: each node is one right of the last of those before it (longest path).
// 2. Edges over several layers get a point in each layer between, so that they bend around nodes.
// 3. Order: sweeps to and fro sort each layer by the mean place of the neighbours (barycentre); the order with the
//    fewest crossings wins.
// 4. Places: each node wants to be level with its neighbours; isotonic regression (pool adjacent violators) finds
//    the places nearest to that which keep the order and the distance.
//
// Pure: numbers in, numbers out. Nodes are 0…count-1, edges are [from, to].

const sweeps_max = 6;
const place_sweeps = 4;
const points_max = 30_000; // of long edges; with more, these are drawn straight
const crossings_edges_max = 20_000; // with more, crossings are not counted

export function layersOf(count, edges) {
  const after = Array.from({length: count}, () => []);
  const open = new Array(count).fill(0);
  for (const [from, to] of edges) {
    after[from].push(to);
    ++open[to];
  }
  const layer = new Array(count).fill(0);
  const ready = [];
  open.forEach((n, node) => n === 0 && ready.push(node));
  for (let at = 0; at < ready.length; ++at) {
    for (const next of after[ready[at]]) {
      layer[next] = Math.max(layer[next], layer[ready[at]] + 1);
      if (--open[next] === 0) ready.push(next);
    }
  }
  return layer;
}

// Nodes, then the points of long edges; `chains` are the edges as lists of these.
function withPoints(layer, edges) {
  const total = edges.reduce((sum, [from, to]) => sum + Math.max(0, layer[to] - layer[from] - 1), 0);
  const layers = [...layer];
  const links = [];
  const chains = edges.map(([from, to]) => {
    const chain = [from];
    if (total <= points_max)
      for (let at = layer[from] + 1; at < layer[to]; ++at) {
        layers.push(at);
        chain.push(layers.length - 1);
      }
    chain.push(to);
    if (total <= points_max || layer[to] - layer[from] === 1)
      for (let at = 1; at < chain.length; ++at) links.push([chain[at - 1], chain[at]]);
    return chain;
  });
  return {layers, links, chains};
}

function neighbours(count, links) {
  const before = Array.from({length: count}, () => []);
  const after = Array.from({length: count}, () => []);
  for (const [from, to] of links) {
    before[to].push(from);
    after[from].push(to);
  }
  return {before, after};
}

// The crossings between two layers: inversions among the right ends, counted with a Fenwick tree.
function crossingsBetween(left, right, after, rank) {
  const tree = new Array(right.length + 1).fill(0);
  let seen = 0;
  let crossings = 0;
  for (const node of left) {
    const ends = after[node].map((next) => rank[next]).sort((a, b) => a - b);
    for (const end of ends) {
      let notAbove = 0;
      for (let at = end + 1; at > 0; at -= at & -at) notAbove += tree[at];
      crossings += seen - notAbove;
    }
    for (const end of ends) {
      ++seen;
      for (let at = end + 1; at <= right.length; at += at & -at) ++tree[at];
    }
  }
  return crossings;
}

function countCrossings(order, after, rank) {
  let sum = 0;
  for (let at = 1; at < order.length; ++at) sum += crossingsBetween(order[at - 1], order[at], after, rank);
  return sum;
}

function setRanks(nodes, rank) {
  nodes.forEach((node, at) => (rank[node] = at));
}

function sortByMean(nodes, beside, rank) {
  const wanted = new Map(
    nodes.map((node) => {
      const near = beside[node];
      const mean = near.length === 0 ? rank[node] : near.reduce((sum, other) => sum + rank[other], 0) / near.length;
      return [node, mean];
    }),
  );
  nodes.sort((a, b) => wanted.get(a) - wanted.get(b) || rank[a] - rank[b]);
  setRanks(nodes, rank);
}

function orderLayers(layers, links) {
  const order = [];
  layers.forEach((layer, node) => (order[layer] ||= []).push(node));
  const rank = new Array(layers.length).fill(0);
  order.forEach((nodes) => setRanks(nodes, rank));
  const {before, after} = neighbours(layers.length, links);
  const counted = links.length <= crossings_edges_max;
  let best = order.map((nodes) => [...nodes]);
  let fewest = counted ? countCrossings(order, after, rank) : Infinity;
  for (let sweep = 0; sweep < sweeps_max && fewest > 0; ++sweep) {
    if (sweep % 2 === 0) for (let at = 1; at < order.length; ++at) sortByMean(order[at], before, rank);
    else for (let at = order.length - 2; at >= 0; --at) sortByMean(order[at], after, rank);
    const crossings = counted ? countCrossings(order, after, rank) : 0;
    if (counted && crossings >= fewest) continue;
    fewest = counted ? crossings : fewest;
    best = order.map((nodes) => [...nodes]);
  }
  return {order: best, before, after};
}

// The places nearest to the wanted ones with at least `gap(i)` between i and i + 1.
export function isotonic(wanted, gap) {
  const shift = [0];
  for (let at = 1; at < wanted.length; ++at) shift.push(shift[at - 1] + gap(at - 1));
  const pools = []; // {sum, size} with growing means
  wanted.forEach((place, at) => {
    let pool = {sum: place - shift[at], size: 1};
    while (pools.length > 0) {
      const last = pools[pools.length - 1];
      if (last.sum / last.size <= pool.sum / pool.size) break;
      pools.pop();
      pool = {sum: pool.sum + last.sum, size: pool.size + last.size};
    }
    pools.push(pool);
  });
  const places = [];
  for (const {sum, size} of pools) for (let n = 0; n < size; ++n) places.push(sum / size + shift[places.length]);
  return places;
}

function placeNodes({order, before, after}, isNode, gaps) {
  const y = [];
  const gapIn = (nodes) => (at) => (isNode(nodes[at]) || isNode(nodes[at + 1]) ? gaps.node : gaps.point);
  for (const nodes of order)
    isotonic(
      nodes.map(() => 0),
      gapIn(nodes),
    ).forEach((place, at) => (y[nodes[at]] = place));
  const settle = (nodes, beside) => {
    const wanted = nodes.map((node) => {
      const near = beside[node];
      return near.length === 0 ? y[node] : near.reduce((sum, other) => sum + y[other], 0) / near.length;
    });
    isotonic(wanted, gapIn(nodes)).forEach((place, at) => (y[nodes[at]] = place));
  };
  for (let sweep = 0; sweep < place_sweeps; ++sweep) {
    if (sweep % 2 === 0) for (let at = order.length - 2; at >= 0; --at) settle(order[at], after);
    else for (let at = 1; at < order.length; ++at) settle(order[at], before);
  }
  return y;
}

// {x, y: of each node; lines: the points of each edge; width, height}
export function layout({count, edges, size = {width: 180, height: 36, layer: 260, gap: 14}}) {
  if (count === 0) return {x: [], y: [], lines: [], width: 0, height: 0};
  const {layers, links, chains} = withPoints(layersOf(count, edges), edges);
  const ordered = orderLayers(layers, links);
  const y = placeNodes(ordered, (node) => node < count, {node: size.height + size.gap, point: size.gap});
  const top = y.reduce((least, place) => Math.min(least, place), Infinity);
  const bottom = y.reduce((most, place) => Math.max(most, place), -Infinity);
  const x = layers.map((layer) => layer * size.layer);
  const middle = (node) => y[node] - top + size.height / 2;
  const lines = chains.map((chain) =>
    chain.flatMap((node, at) => {
      const from = x[node] + (at === 0 ? size.width : 0);
      if (at === 0 || at === chain.length - 1) return [[from, middle(node)]];
      return [
        [from, middle(node)],
        [from + size.width, middle(node)],
      ];
    }),
  );
  return {
    x: x.slice(0, count),
    y: y.slice(0, count).map((place) => place - top),
    lines,
    width: x.reduce((most, place) => Math.max(most, place), 0) + size.width,
    height: bottom - top + size.height,
  };
}
