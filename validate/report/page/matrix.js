/* The heat map: one canvas a rail, as one pixel or more a pair. */
const RAMPS = { /* from as good as what good nodes reach to nothing */
  light: [[222, 233, 243], [148, 185, 219], [70, 124, 178], [30, 72, 120], [16, 38, 68]],
  dark: [[28, 44, 60], [55, 96, 138], [104, 157, 208], [168, 205, 238], [226, 240, 252]],
};
const OVER = { light: { fail: [217, 72, 15], warn: [224, 164, 32], none: [255, 255, 255] }, dark: { fail: [255, 122, 61], warn: [240, 190, 80], none: [15, 19, 23] } };
const LENS = 15, WORST = 12;
const map = { rail: 0, figure: 'bandwidth', order: 'name', at: null, isHeld: false, cell: 1, step: 1 };

const figuresOf = (rail, metric) => rails[rail][metric];
const shownMetric = () => map.figure === 'difference' ? 'bandwidth' : map.figure;

/* How good a figure is, 1: as good nodes reach. */
function share(figures, at) {
  const value = figures.values[at];
  if (map.figure === 'difference') {
    const back = figures.value(figures.pairs.to[at], figures.pairs.from[at]);
    return Number.isNaN(back) ? NaN : back === 0 ? 1 : Math.min(1, value / back);
  }
  if (map.figure === 'latency') return value === 0 ? 1 : Math.min(1, figures.reference / value);
  return Math.min(1, value / (figures.reference || Infinity));
}

function ramp(colours, goodness) {
  const place = Math.max(0, Math.min(1, 1 - goodness)) * (colours.length - 1), low = Math.min(colours.length - 2, Math.floor(place));
  return [0, 1, 2].map(k => Math.round(colours[low][k] + (place - low) * (colours[low + 1][k] - colours[low][k])));
}
function rampTable(colours) { return Array.from({ length: 257 }, (_, i) => ramp(colours, i / 256)); }

function orderOf(kind) {
  const order = nodes.map(n => n.index);
  if (kind === 'leaf') order.sort((a, b) => nodes[a].leaf - nodes[b].leaf || a - b);
  return order;
}

/* Failed before warned before what is only low. */
function rankOf(verdict, goodness) { return verdict === FAIL ? goodness - 2 : verdict === WARN ? goodness - 1 : goodness; }

/* The colours of the pairs of what is shown: of(i) is that of figure i, and none that of the others. */
function colours() {
  const theme = isDark() ? 'dark' : 'light', table = rampTable(RAMPS[theme]), over = OVER[theme], figures = figuresOf(map.rail, shownMetric());
  const verdict = i => map.figure === 'difference' ? 0 : figures.verdicts[i];
  const of = i => verdict(i) === FAIL ? over.fail : verdict(i) === WARN ? over.warn : table[Math.round(share(figures, i) * 256)] || over.none;
  return { figures, of, verdict, none: over.none };
}

/* The map with one pixel a pair, or the worst of a square of pairs where there are too many nodes to
 * see one, and the pairs that are to stand out. */
function paint() {
  const { figures, of, verdict, none } = colours(), { from, to } = figures.pairs, { place, step } = map, marks = [];
  const off = document.createElement('canvas'), side = Math.ceil(N / step), worst = new Float32Array(side * side).fill(2);
  off.width = off.height = side;
  const context = off.getContext('2d'), image = context.createImageData(side, side), pixels = new Uint32Array(image.data.buffer);
  const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  pixels.fill(packed(none));
  for (let i = 0; i < figures.count; i++) {
    const x = place[to[i]], y = place[from[i]], at = Math.floor(y / step) * side + Math.floor(x / step), goodness = share(figures, i);
    if (Number.isNaN(goodness)) continue;
    if (verdict(i) === FAIL || verdict(i) === WARN) marks.push([x, y, of(i)]);
    if (rankOf(verdict(i), goodness) >= worst[at]) continue;
    worst[at] = rankOf(verdict(i), goodness);
    pixels[at] = packed(of(i));
  }
  context.putImageData(image, 0, 0);
  map.image = off;
  map.marks = marks;
}

const GUTTER = 46, TOP = 20;

function draw() {
  const canvas = byId('matrix'), context = canvas.getContext('2d'), cell = map.cell, size = N * cell;
  const style = getComputedStyle(document.documentElement), lines = style.getPropertyValue('--line'), text = style.getPropertyValue('--muted');
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round((size + GUTTER + 1) * ratio);
  canvas.height = Math.round((size + TOP + 1) * ratio);
  canvas.style.width = size + GUTTER + 1 + 'px';
  canvas.style.height = size + TOP + 1 + 'px';
  context.scale(ratio, ratio);
  context.imageSmoothingEnabled = false;
  context.drawImage(map.image, GUTTER, TOP, map.image.width * map.step * cell, map.image.width * map.step * cell);
  if (cell < 3)
    for (const [x, y, colour] of map.marks) {
      context.fillStyle = `rgb(${colour})`;
      context.fillRect(GUTTER + x * cell - 1, TOP + y * cell - 1, 3, 3);
    }
  context.strokeStyle = lines;
  context.lineWidth = 1;
  if (cell >= 10) {
    context.strokeStyle = style.getPropertyValue('--bg');
    for (let i = 1; i < N; i++) strokeCross(context, i, size, cell);
    context.strokeStyle = lines;
  } else if (map.order === 'leaf') {
    for (let i = 1; i < N; i++)
      if (nodes[map.sequence[i]].leaf !== nodes[map.sequence[i - 1]].leaf) strokeCross(context, i, size, cell);
  }
  context.strokeRect(GUTTER + .5, TOP + .5, size, size);
  labels(context, cell, text, size);
  if (map.at) {
    context.strokeStyle = style.getPropertyValue('--text');
    context.lineWidth = map.isHeld ? 2 : 1;
    const side = Math.max(cell, 7), shift = (side - cell) / 2;
    context.strokeRect(GUTTER + map.at[0] * cell - shift + .5, TOP + map.at[1] * cell - shift + .5, side, side);
  }
}

function strokeCross(context, i, size, cell) {
  context.beginPath();
  context.moveTo(GUTTER + i * cell + .5, TOP); context.lineTo(GUTTER + i * cell + .5, TOP + size);
  context.moveTo(GUTTER, TOP + i * cell + .5); context.lineTo(GUTTER + size, TOP + i * cell + .5);
  context.stroke();
}

/* As many names as there is room for; of leaves where the nodes are in their order. */
function labels(context, cell, colour, size) {
  context.fillStyle = colour;
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const names = [];
  for (let i = 0; i < N; i++) {
    const node = nodes[map.sequence[i]], before = i ? nodes[map.sequence[i - 1]] : null;
    const isLeafName = map.order === 'leaf' && cell < 10;
    if (isLeafName && before && before.leaf === node.leaf) continue;
    names.push([i, isLeafName ? D.leaves[node.leaf] || '–' : node.name]);
  }
  let last = -99;
  context.textAlign = 'right';
  for (const [i, name] of names) {
    const y = TOP + i * cell + (map.order === 'leaf' && cell < 10 ? 5 : cell / 2);
    if (y - last < 13 || y > TOP + size) continue;
    context.fillText(name, GUTTER - 4, y, GUTTER - 6);
    last = y;
  }
  last = -99;
  context.textAlign = 'left';
  for (const [i, name] of names) {
    const x = GUTTER + i * cell + 1, width = Math.min(context.measureText(name).width, Math.max(cell, 60));
    if (x - last < 6 || x + width > GUTTER + size + 1) continue;
    context.fillText(name, x, TOP - 9, width);
    last = x + width;
  }
}

function lens() {
  const canvas = byId('lens'), context = canvas.getContext('2d'), side = canvas.width / LENS, half = (LENS - 1) / 2;
  canvas.hidden = map.cell >= 8;
  if (canvas.hidden) return;
  const style = getComputedStyle(document.documentElement);
  context.imageSmoothingEnabled = false;
  context.fillStyle = style.getPropertyValue('--panel');
  context.fillRect(0, 0, canvas.width, canvas.height);
  if (!map.at) {
    context.fillStyle = style.getPropertyValue('--muted');
    context.font = '13px sans-serif';
    context.textAlign = 'center';
    context.fillText('the cells around a pair, enlarged', canvas.width / 2, canvas.height / 2);
    return;
  }
  const [x, y] = map.at, { figures, of, none } = colours(), { sequence } = map;
  for (let row = 0; row < LENS; row++)
    for (let column = 0; column < LENS; column++) {
      const to = sequence[x - half + column], from = sequence[y - half + row], i = from === undefined || to === undefined ? -2 : figures.pairs.find(from, to);
      if (i === -2) continue; // beyond the edge
      context.fillStyle = `rgb(${i < 0 ? none : of(i)})`;
      context.fillRect(column * side, row * side, side, side);
    }
  context.strokeStyle = style.getPropertyValue('--text');
  context.lineWidth = 2;
  context.strokeRect(half * side, half * side, side, side);
}

function pairRow(rail, metric, from, to) {
  const figures = figuresOf(rail, metric), cell = figures ? figures.pairs.find(from, to) : -1;
  if (cell < 0) return null;
  const value = figures.values[cell], unit = METRICS[metric].unit, limit = figures.limit(cell), parts = [withUnit(value, unit)];
  if (figures.low && !Number.isNaN(figures.low[cell])) parts.push(' (' + figure(figures.low[cell]) + ' to ' + figure(figures.high[cell]) + ')');
  if (limit) parts.push(', limit ' + withUnit(limit[0], unit) + (limit[1] ? ' (' + limit[1] + ')' : ''));
  const verdict = figures.verdicts[cell];
  return el('dd', {}, parts.join(''), verdict ? ' ' : '', verdict ? badge(verdict) : '');
}

function pairShow() {
  const panel = byId('pair');
  if (!map.at) { panel.replaceChildren(el('p', { class: 'muted' }, 'No pair is chosen.')); return; }
  const from = map.sequence[map.at[1]], to = map.sequence[map.at[0]], list = el('dl', {});
  const title = from === to ? nodes[from].name + ' with itself' : nodes[from].name + ' → ' + nodes[to].name + ', ' + rails[map.rail].name;
  for (const [a, b] of [[from, to], [to, from]])
    for (const metric of Object.keys(METRICS)) {
      const row = from === to ? null : pairRow(map.rail, metric, a, b);
      if (row) list.append(el('dt', {}, (a === from ? '' : 'back, ') + METRICS[metric].title.toLowerCase()), row);
    }
  const leaf = i => nodes[i].leaf >= 0 ? D.leaves[nodes[i].leaf] : '';
  if (leaf(from)) list.append(el('dt', {}, 'leaf'), el('dd', {}, leaf(from) === leaf(to) ? leaf(from) : leaf(from) + ' → ' + leaf(to)));
  panel.replaceChildren(el('h4', {}, title, map.isHeld ? ' · held' : ''), list.childElementCount ? list : el('p', { class: 'muted' }, 'Not measured.'));
}

function choose(x, y, hold) {
  if (x === null) { map.at = null; map.isHeld = false; }
  else { map.at = [Math.max(0, Math.min(N - 1, x)), Math.max(0, Math.min(N - 1, y))]; map.isHeld = hold; }
  draw(); lens(); pairShow();
}

function legend() {
  const theme = isDark() ? 'dark' : 'light', over = OVER[theme];
  const spots = [[1, 'as good nodes'], [.75, '75 %'], [.5, '50 %'], [.25, '25 %']].map(([good, word]) => [ramp(RAMPS[theme], good), word]);
  if (map.figure === 'difference') spots[0][1] = 'both ways alike';
  else spots.push([over.fail, map.figure === 'latency' ? 'failed' : 'below the limit'], [over.warn, 'warning']);
  spots.push([over.none, 'not measured']);
  byId('legend').replaceChildren(...spots.map(([colour, word]) => el('span', {}, el('i', { style: `background:rgb(${colour})` }), word)));
}

function worstTable() {
  const figures = figuresOf(map.rail, shownMetric()), { values, pairs } = figures, metric = METRICS[shownMetric()], list = [];
  for (let i = 0; i < figures.count; i++) {
    const goodness = share(figures, i);
    if (Number.isNaN(goodness) || (list.length === WORST && goodness >= list[WORST - 1][0])) continue;
    let at = list.length;
    while (at > 0 && list[at - 1][0] > goodness) at--;
    list.splice(at, 0, [goodness, i]);
    if (list.length > WORST) list.pop();
  }
  headRow(byId('worst'), [['Sends'], ['Receives'], [metric.title, 'num'], ['The other way', 'num'], ['Limit', 'num'], ['Verdict'], ['']]);
  byId('worst').tBodies[0].replaceChildren(...list.map(([, cell]) => {
    const from = pairs.from[cell], to = pairs.to[cell], limit = figures.limit(cell), verdict = figures.verdicts[cell];
    return el('tr', {}, el('td', {}, nodeButton(nodes[from].name)), el('td', {}, nodeButton(nodes[to].name)),
      el('td', { class: 'num' }, withUnit(values[cell], metric.unit)), el('td', { class: 'num' }, withUnit(figures.value(to, from), metric.unit)),
      el('td', { class: 'num' }, limit ? withUnit(limit[0], metric.unit) : '–'), el('td', {}, verdict ? badge(verdict) : '–'),
      el('td', {}, el('button', { type: 'button', class: 'link', onclick: () => { choose(map.place[to], map.place[from], true); byId('matrix').focus(); } }, 'show')));
  }));
  byId('worst-h').textContent = map.figure === 'latency' ? 'Slowest pairs' : map.figure === 'difference' ? 'Pairs that differ most by direction' : 'Lowest pairs';
}

function redraw() {
  const available = Math.min(byId('links').clientWidth, window.innerWidth - 40) - GUTTER - 2;
  const room = available > 800 ? available - 300 : available;
  /* below a pixel a pair only where there are more pairs than pixels: what stands out is drawn wider */
  map.cell = N > room ? room / N : Math.min(48, Math.floor(Math.min(room, 1100) / N));
  map.step = Math.max(1, Math.ceil(N / room));
  map.sequence = orderOf(map.order);
  map.place = new Int32Array(N);
  map.sequence.forEach((node, i) => { map.place[node] = i; });
  const figures = figuresOf(map.rail, shownMetric()), limit = figures.mainLimit, unit = METRICS[shownMetric()].unit;
  byId('matrix').setAttribute('aria-label', `${METRICS[shownMetric()].title} of ${N} by ${N} nodes on ${rails[map.rail].name}: ${figures.count} pairs, median ${withUnit(figures.median, unit)}`
    + (limit ? `, limit ${withUnit(limit[0], unit)}` : ''));
  paint(); legend(); worstTable(); draw(); lens(); pairShow();
}

function matrixStart() {
  const first = rails.findIndex(r => metricsOf(r).length);
  if (first < 0 || N < 2) return;
  byId('links').hidden = false;
  map.rail = first;
  map.figure = metricsOf(rails[first])[0];
  map.order = D.leaves.length > 1 ? 'leaf' : 'name';
  choices(byId('rail-choice'), rails.map((r, i) => [i, r.name]), first, rail => {
    map.rail = rail;
    if (!figuresOf(rail, shownMetric())) map.figure = metricsOf(rails[rail])[0];
    redraw();
  });
  const figures = Object.keys(METRICS).filter(metric => rails.some(r => r[metric])).map(metric => [metric, METRICS[metric].title]);
  if (rails.some(r => r.bandwidth)) figures.push(['difference', 'Difference by direction']);
  choices(byId('figure-choice'), figures, map.figure, name => {
    if (rails[map.rail][name === 'difference' ? 'bandwidth' : name]) { map.figure = name; redraw(); }
  });
  byId('order-set').hidden = D.leaves.length < 2;
  choices(byId('order-choice'), [['leaf', 'By leaf'], ['name', 'By name']], map.order, order => { map.order = order; map.at = null; redraw(); });
  const canvas = byId('matrix');
  const place = event => [Math.floor((event.offsetX - GUTTER) / map.cell), Math.floor((event.offsetY - TOP) / map.cell)];
  const inside = ([x, y]) => x >= 0 && y >= 0 && x < N && y < N;
  canvas.addEventListener('mousemove', event => { const at = place(event); if (!map.isHeld && inside(at) && (!map.at || at[0] !== map.at[0] || at[1] !== map.at[1])) choose(at[0], at[1], false); });
  canvas.addEventListener('click', event => { const at = place(event); if (inside(at)) choose(at[0], at[1], !(map.isHeld && map.at[0] === at[0] && map.at[1] === at[1])); });
  canvas.addEventListener('keydown', event => {
    const step = event.shiftKey ? 10 : 1, moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }, [x, y] = map.at || [0, 0];
    if (moves[event.key]) choose(map.at ? x + moves[event.key][0] : 0, map.at ? y + moves[event.key][1] : 0, true);
    else if (event.key === 'Enter' || event.key === ' ') choose(x, y, !map.isHeld);
    else if (event.key === 'Escape') choose(null, null, false);
    else return;
    event.preventDefault();
  });
  colourListeners.push(redraw);
  let timer = 0;
  window.addEventListener('resize', () => { clearTimeout(timer); timer = setTimeout(redraw, 150); });
}
