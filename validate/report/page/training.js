/* Steps of muster-train: D.training.points are [step, loss, least, greatest, tokens/s], each of one
 * step or of several. */
function stepCurve(name, words, points) {
  const picture = svg('svg', { viewBox: `0 0 ${CHART.width} ${CHART.height + 20}`, role: 'img', 'aria-label': `${name}: ${words}` });
  const base = CHART.height - 10, left = 52, first = points[0].step, last = points[points.length - 1].step;
  let least = Math.min(...points.map(p => p.low)), greatest = Math.max(...points.map(p => p.high));
  if (!(greatest > least)) { least -= Math.abs(least) * .05 + .5; greatest += Math.abs(greatest) * .05 + .5; }
  const x = step => left + (step - first) / (last - first || 1) * (CHART.width - left - 8);
  const y = value => base - (value - least) / (greatest - least) * (base - CHART.top);
  for (const part of [0, .5, 1]) {
    const value = least + part * (greatest - least);
    picture.append(svg('line', { class: 'axis', x1: left, x2: CHART.width, y1: y(value), y2: y(value) }),
      svg('text', { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, figure(value)));
  }
  const outline = points.map(p => `${x(p.step)},${y(p.high)}`).concat([...points].reverse().map(p => `${x(p.step)},${y(p.low)}`));
  picture.append(svg('polygon', { class: 'band', points: outline.join(' ') }),
    svg('polyline', { class: 'curve', points: points.map(p => `${x(p.step)},${y(p.value)}`).join(' ') }));
  if (points.length <= 40)
    for (const p of points) picture.append(svg('circle', { class: 'dot', cx: x(p.step), cy: y(p.value), r: 3 }, svg('title', {}, `step ${p.step}: ${figure(p.value)}`)));
  picture.append(svg('text', { x: left, y: base + 16 }, 'step ' + first), svg('text', { x: CHART.width - 8, y: base + 16, 'text-anchor': 'end' }, String(last)));
  return el('figure', {}, el('figcaption', {}, name + ' ', el('span', {}, words)), picture);
}

const trainingWords = () => `${plural(D.training.steps, 'step')}, loss ${figure(D.training.ends[0])} to ${figure(D.training.ends[1])}`;

function trainingStart() {
  if (!D.training.steps) return;
  byId('training').hidden = false;
  const speeds = D.training.points.filter(p => p[4] !== null).map(p => ({ step: p[0], value: p[4], low: p[4], high: p[4] }));
  byId('steps').replaceChildren(stepCurve('Loss', trainingWords(),
    D.training.points.map(([step, value, low, high]) => ({ step, value, low, high }))));
  if (speeds.length) {
    const sorted = speeds.map(p => p.value).sort((a, b) => a - b);
    byId('steps').append(stepCurve('Speed', `tokens per second, median ${figure(sorted[sorted.length >> 1])}`, speeds));
  }
}
