/* One node: its verdict, its rails, its past. */
/* As the judge takes it: a rail is as good as the best it showed with any partner. */
function nodeRails(node) {
  const table = el('table', {}, el('thead'), el('tbody'));
  headRow(table, [['Rail'], ['Best sent', 'num'], ['Best received', 'num'], ['Good nodes reach', 'num'], ['Limit', 'num'], ['Latency', 'num'], ['Pairs', 'num']]);
  for (const rail of rails) {
    const figures = rail.bandwidth, limit = figures && figures.mainLimit, pairs = figures && figures.pairs, i = node.index;
    const [received, sent] = figures ? figures.best.map(list => list[i]) : [NaN, NaN];
    const incoming = pairs ? pairs.to.reduce((count, to) => count + (to === i), 0) : 0, count = pairs ? pairs.start[i + 1] - pairs.start[i] + incoming : 0;
    const latencies = rail.latency ? rail.latency.values.slice(rail.latency.pairs.start[i], rail.latency.pairs.start[i + 1]) : [];
    const low = v => el('td', { class: 'num' + (limit && v < limit[0] ? ' fail' : '') }, withUnit(v, 'Mb/s'));
    table.tBodies[0].append(el('tr', {}, el('td', {}, rail.name), low(sent), low(received), el('td', { class: 'num' }, rail.bandwidth ? withUnit(rail.bandwidth.reference, 'Mb/s') : '–'),
      el('td', { class: 'num' }, limit ? withUnit(limit[0], 'Mb/s') : '–'), el('td', { class: 'num' }, withUnit(latencies.length ? latencies.reduce((a, b) => Math.min(a, b)) : NaN, 'µs')), el('td', { class: 'num' }, String(count))));
  }
  return [el('h3', {}, 'Its rails'), el('div', { class: 'scroll' }, table)];
}

function pastChart(past) {
  const points = past.filter(p => p[3] !== null).reverse();
  if (points.length < 2) return null;
  const width = CHART.width * 2, most = Math.max(...points.map(p => p[3])) || 1, base = CHART.height - 20, left = 50;
  const x = i => left + i / (points.length - 1) * (width - left - 10), y = v => base - v / most * (base - CHART.top);
  const picture = svg('svg', { viewBox: `0 0 ${width} ${CHART.height}`, role: 'img', 'aria-label': 'Its worst rail, run by run; the table below has the figures' });
  for (const part of [0, .5, 1]) picture.append(svg('line', { class: 'axis', x1: left, x2: width, y1: y(most * part), y2: y(most * part) }), svg('text', { x: left - 6, y: y(most * part) + 4, 'text-anchor': 'end' }, figure(most * part)));
  picture.append(svg('polyline', { class: 'curve', points: points.map((p, i) => `${x(i)},${y(p[3])}`).join(' ') }));
  points.forEach((p, i) => picture.append(svg('circle', { class: 'dot ' + VERDICTS[p[2]], cx: x(i), cy: y(p[3]), r: 4 }, svg('title', {}, `${dateText(p[0])}: ${withUnit(p[3], 'Mb/s')}, ${VERDICTS[p[2]]}`))));
  return el('figure', {}, el('figcaption', {}, 'Its worst rail ', el('span', {}, 'in Mb/s, run by run')), picture);
}

function nodePast(node) {
  const past = named(D.past, node.name) || [];
  if (!past.length) return [];
  const table = el('table', {}, el('thead'), el('tbody'));
  headRow(table, [['Time'], ['Verdict'], ['Worst rail', 'num'], ['Run'], ['Part at fault']]);
  table.tBodies[0].append(...past.map(p => el('tr', { class: p[1] === D.run ? 'mine' : null }, el('td', {}, dateText(p[0])), el('td', {}, badge(p[2], p[6] ? 'suspect' : '')),
    el('td', { class: 'num' }, p[3] === null ? '–' : withUnit(p[3], 'Mb/s')), el('td', {}, p[1]), el('td', { class: 'text' }, partMessage(p[4], p[5]) || '–'))));
  return [el('h3', {}, 'Its history'), pastChart(past), el('div', { class: 'scroll' }, table)].filter(Boolean);
}

function nodeChanges(node) {
  const changes = named(D.changes, node.name);
  if (!changes) return [];
  return [el('h3', {}, 'Changed since its last good run'), el('p', { class: 'muted' }, `Run ${changes.run}, ${dateText(changes.since)}.`),
    changes.list.length ? el('ul', { id: 'changes' }, ...changes.list.map(change => el('li', {}, changeText(change)))) : el('p', {}, 'No fact of the node has changed.')];
}

function showNode(name, jump) {
  const node = nodeByName.get(name), detail = byId('node-detail');
  byId('node-name').value = name;
  if (!node) { detail.replaceChildren(el('p', { class: 'muted' }, name ? 'No node of this run has that name.' : 'No node is chosen.')); return; }
  const facts = el('dl', { class: 'facts' });
  const fact = (term, value) => value && facts.append(el('dt', {}, term), el('dd', {}, value));
  fact('verdict', badge(node.verdict, nodeWord(node)));
  fact('part at fault', node.verdict >= WARN ? partMessage(node.part, node.message) : '');
  fact('what to do', node.advice);
  fact('certificate', node.isCertified ? (node.expires ? 'until ' + dateText(node.expires) : 'yes') : '');
  fact('leaf', node.leaf >= 0 ? D.leaves[node.leaf] : '');
  const list = el('button', { type: 'button', onclick: () => { byId('filter').value = listing.text = node.name; listing.shown = new Set([FAIL, UNKNOWN, WARN, PASS, SKIP]);
    document.querySelectorAll('#verdict-choice button').forEach(b => b.setAttribute('aria-pressed', 'true')); verdictsDraw(); byId('verdicts').scrollIntoView(); byId('filter').focus({ preventScroll: true }); } }, 'Its verdicts');
  detail.replaceChildren(el('h3', {}, node.name), facts, el('p', {}, list), ...(rails.some(r => metricsOf(r).length) ? nodeRails(node) : []), ...nodeChanges(node), ...nodePast(node));
  if (jump) { byId('node').scrollIntoView(); byId('node-name').focus({ preventScroll: true }); }
}

function nodeStart() {
  byId('node').hidden = !N;
  byId('node-list').replaceChildren(...nodes.map(n => el('option', { value: n.name })));
  byId('node-name').addEventListener('change', event => showNode(event.target.value.trim(), false));
  const worst = nodes.reduce((a, b) => !a || b.verdict > a.verdict ? b : a, null);
  if (worst) showNode(worst.name, false);
}
