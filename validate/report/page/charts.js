/* Distributions and the collectives' sweep. */
const BINS = 48, DOTS = 400, SWEEP_FIRST = 200, CHART = { width: 420, height: 150, left: 4, bottom: 32, top: 14 };

function histogram(rail, metric) {
  const figures = rail[metric], [least, greatest] = figures.range, unit = METRICS[metric].unit, isLog = metric === 'latency' && least > 0;
  const limit = figures.mainLimit, value = isLog ? Math.log : v => v, back = isLog ? Math.exp : v => v;
  let low = value(Math.min(least, limit && metric === 'bandwidth' ? limit[0] : least)), high = value(greatest);
  if (!(high > low)) { low -= Math.abs(low) * .05 + .5; high += Math.abs(high) * .05 + .5; }
  const counts = new Array(BINS).fill(0), lows = new Array(BINS).fill(0), width = CHART.width - 2 * CHART.left, base = CHART.height - CHART.bottom;
  const limitAt = limit ? limit[0] : NaN, scale = BINS / (high - low);
  for (const v of figures.values) {
    if (v !== v) continue;
    const bin = Math.min(BINS - 1, Math.floor((value(v) - low) * scale));
    counts[bin]++;
    if (metric === 'bandwidth' ? v < limitAt : v > limitAt) lows[bin]++;
  }
  const most = Math.max(...counts), x = v => CHART.left + (value(v) - low) / (high - low) * width;
  /* by the square root, so that a few slow pairs beside a million good ones can be seen */
  const tall = count => count ? Math.max(2, Math.sqrt(count / most) * (base - CHART.top)) : 0;
  const picture = svg('svg', { viewBox: `0 0 ${CHART.width} ${CHART.height}`, role: 'img' });
  const below = lows.reduce((a, b) => a + b, 0);
  const words = `median ${withUnit(figures.median, unit)}, ${withUnit(least, unit)} to ${withUnit(greatest, unit)}`
    + (limit ? `, ${below} of ${figures.count} ${metric === 'bandwidth' ? 'below' : 'above'} the limit of ${withUnit(limit[0], unit)}` : '');
  picture.setAttribute('aria-label', `${rail.name}, ${metric}: ${words}`);
  for (let i = 0; i < BINS; i++) {
    const bar = (count, cls) => count && picture.append(svg('rect', { class: cls, x: CHART.left + i * width / BINS + .5, width: width / BINS - 1, y: base - tall(count), height: tall(count) },
      svg('title', {}, `${withUnit(back(low + i * (high - low) / BINS), unit)} to ${withUnit(back(low + (i + 1) * (high - low) / BINS), unit)}: ${counts[i]}`)));
    bar(counts[i], lows[i] === counts[i] ? 'bar low' : 'bar');
    if (lows[i] && lows[i] < counts[i]) bar(lows[i], 'bar low');
  }
  picture.append(svg('line', { class: 'axis', x1: CHART.left, x2: CHART.width - CHART.left, y1: base + .5, y2: base + .5 }));
  const mark = (at, cls, word, dy) => {
    const place = x(at), anchor = place > CHART.width * .7 ? 'end' : place < CHART.width * .3 ? 'start' : 'middle';
    picture.append(svg('line', { class: cls, x1: place, x2: place, y1: CHART.top, y2: base + 3 }),
      svg('text', { class: cls, x: place, y: base + dy, 'text-anchor': anchor }, word));
  };
  mark(figures.median, 'median', 'median ' + withUnit(figures.median, unit), 14);
  if (limit && value(limit[0]) >= low && value(limit[0]) <= high) mark(limit[0], 'limit', 'limit ' + withUnit(limit[0], unit), 28);
  return el('figure', {}, el('figcaption', {}, rail.name + ' ', el('span', {}, METRICS[metric].title.toLowerCase() + ', ' + words)), picture);
}

const chartsOf = metric => rails.filter(rail => rail[metric] && rail[metric].count);
function chartsShow() { byId('distributions').hidden = !chartsOf('bandwidth').length && !chartsOf('latency').length; }

function chartsStart() {
  for (const [metric, place] of [['bandwidth', 'bandwidths'], ['latency', 'latencies']]) {
    byId(place).replaceChildren(...chartsOf(metric).map(rail => histogram(rail, metric)));
  }
}

function sizeText(bytes) {
  const power = bytes ? Math.min(3, Math.floor(Math.log2(bytes) / 10)) : 0, value = bytes / 1024 ** power;
  return Number(value.toFixed(1)) + ' ' + ['B', 'KiB', 'MiB', 'GiB'][power];
}

/* "allreduce 1024K" is a collective and a size. */
function sweepPoint([part, value, low, high, message]) {
  const found = /^(.*?)\s+(\d+)([KMG]?)$/.exec(part);
  const bytes = found ? Number(found[2]) * { '': 1, K: 1024, M: 1048576, G: 1073741824 }[found[3]] : 0;
  return { name: found ? found[1] : part, label: found ? sizeText(bytes) : '', bytes, value, low, high, message };
}

function curve(name, points) {
  const picture = svg('svg', { viewBox: `0 0 ${CHART.width} ${CHART.height + 20}`, role: 'img', 'aria-label': `${name}: bus bandwidth by size; the table below has the figures` });
  const base = CHART.height - 10, left = 44, sizes = points.map(p => Math.log2(p.bytes)), most = points.reduce((most, p) => Math.max(most, p.high ?? p.value), 0) || 1;
  const x = bytes => left + (Math.log2(bytes) - sizes[0]) / (sizes[sizes.length - 1] - sizes[0] || 1) * (CHART.width - left - 24);
  const y = value => base - value / most * (base - CHART.top);
  for (const part of [0, .5, 1])
    picture.append(svg('line', { class: 'axis', x1: left, x2: CHART.width, y1: y(most * part), y2: y(most * part) }),
      svg('text', { x: left - 6, y: y(most * part) + 4, 'text-anchor': 'end' }, figure(most * part)));
  const outline = points.map(p => `${x(p.bytes)},${y(p.high ?? p.value)}`).concat([...points].reverse().map(p => `${x(p.bytes)},${y(p.low ?? p.value)}`));
  picture.append(svg('polygon', { class: 'band', points: outline.join(' ') }), svg('polyline', { class: 'curve', points: points.map(p => `${x(p.bytes)},${y(p.value)}`).join(' ') }));
  let last = -99;
  for (const p of points) {
    if (points.length <= DOTS) picture.append(svg('circle', { class: 'dot', cx: x(p.bytes), cy: y(p.value), r: 3.5 }, svg('title', {}, `${p.label}: ${figure(p.value)} GB/s`)));
    if (x(p.bytes) - last > 46) { picture.append(svg('text', { x: x(p.bytes), y: base + 16, 'text-anchor': 'middle' }, p.label)); last = x(p.bytes); }
  }
  return el('figure', {}, el('figcaption', {}, name + ' ', el('span', {}, 'bus bandwidth in GB/s by size')), picture);
}

function collectivesStart() {
  if (!D.sweep.length) return;
  byId('collectives').hidden = false;
  const points = D.sweep.map(sweepPoint), groups = new Map(points.map(p => [p.name, []]));
  const table = el('table', { class: 'compact', 'aria-labelledby': 'collectives-h' }, el('thead'), el('tbody'));
  points.filter(p => p.bytes).forEach(p => groups.get(p.name).push(p));
  byId('sweeps').replaceChildren(...[...groups].filter(([, list]) => list.length > 1)
    .map(([name, list]) => curve(name, list.sort((a, b) => a.bytes - b.bytes))));
  headRow(table, [['Collective'], ['Size', 'num'], ['Bus bandwidth', 'num'], ['Interval', 'num'], ['']]);
  byId('sweep').replaceChildren(...tableOf(table, points, p => el('tr', {}, el('td', {}, p.name), el('td', { class: 'num' }, p.label),
    el('td', { class: 'num' }, figure(p.value) + ' GB/s'), el('td', { class: 'num' }, p.low === null ? '–' : figure(p.low) + ' to ' + figure(p.high)), el('td', { class: 'text' }, p.message)), SWEEP_FIRST));
}
