/* What happened, who is at fault, what to do. */
const ATTENTION_FIRST = 12, CHANGES_FIRST = 3, VALUE_MOST = 24;

/* A verdict of muster certify that is no single node's: an uplink, a path, a whole rail,
 * what many nodes have alike. */
const isFinding = row => row.suite === 'certify' && row.verdict >= WARN && (!row.node || row.peer);

function headline() {
  const isBad = n => n.verdict === FAIL && !n.isSuspect, failed = nodes.filter(isBad).length, suspect = nodes.filter(n => n.isSuspect).length, unknown = nodes.filter(n => n.verdict === UNKNOWN).length;
  const findings = rows.filter(r => isFinding(r) && r.verdict === FAIL).length;
  if (!N) return rows.some(r => r.verdict === FAIL) ? 'Something failed' : D.training.steps ? 'Trained ' + trainingWords() : 'No node is named';
  if (failed === 1) { const bad = nodes.find(isBad); return bad.name + ' failed' + (bad.part ? ': ' + bad.part : ''); }
  if (failed) return failed + ' of ' + plural(N, 'node') + ' failed';
  if (findings) return 'No node is at fault; ' + plural(findings, 'fault') + ' between nodes';
  if (suspect) return suspect === 1 ? nodes.find(n => n.isSuspect).name + ' is a suspect' : suspect + ' of ' + plural(N, 'node') + ' are suspects';
  if (unknown) return unknown + ' of ' + plural(N, 'node') + ' could not be told';
  return N === 1 ? nodes[0].name + ' passed' : 'All ' + plural(N, 'node') + ' passed';
}

function attentionRows() {
  const list = nodes.filter(n => n.verdict >= WARN).map(n => ({
    verdict: n.verdict, word: nodeWord(n), node: n.name, text: partMessage(n.part, n.message), advice: n.advice, changes: changesOf(n.name),
  }));
  rows.filter(isFinding).forEach(r => list.push({
    verdict: r.verdict, node: r.node ? r.node + (r.peer ? ' – ' + r.peer : '') : 'between nodes',
    text: partMessage(r.part, r.message), advice: named(D.advice, r.code) || '',
  }));
  return list.sort((a, b) => b.verdict - a.verdict);
}

/* What changed on the node since its last good run, the first few, long values cut; '': nothing, or it is
 * not known. */
function changesOf(name) {
  const list = (named(D.changes, name) || { list: [] }).list, rest = list.length - CHANGES_FIRST;
  const cut = text => text.length > VALUE_MOST ? text.slice(0, VALUE_MOST - 1) + '…' : text;
  return list.slice(0, CHANGES_FIRST).map(change => changeText(change.map(cut))).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function attentionTable(list) {
  const table = el('table', { class: 'cards' }, el('thead'), el('tbody'));
  headRow(table, [['Verdict'], ['Node'], ['Part at fault'], ['What to do']]);
  table.setAttribute('aria-labelledby', 'attention-h');
  return [el('h3', { id: 'attention-h' }, 'What needs attention'), ...tableOf(table, list, item =>
    el('tr', {}, el('td', {}, badge(item.verdict, item.word)), el('td', {}, nodeButton(item.node)),
      el('td', {}, item.text || '–', item.changes ? el('div', { class: 'muted small' }, 'changed since its last good run: ' + item.changes) : ''), el('td', {}, item.advice || '–')), ATTENTION_FIRST)];
}

function summaryStart() {
  const title = D.job ? 'Job ' + D.job : D.run ? 'Run ' + D.run : 'Report';
  byId('title').textContent = title;
  byId('subtitle').textContent = [D.job && D.run && 'run ' + D.run, D.cluster && 'cluster ' + D.cluster, D.level && 'level ' + D.level,
    plural(N, 'node'), D.end && dateText(D.end), D.seconds && figure(D.seconds) + ' s'].filter(Boolean).join(' · ');
  byId('summary-h').textContent = headline();
  const count = wanted => nodes.filter(n => wanted(n.verdict) && !n.isSuspect).length;
  byId('counts').replaceChildren(...[
    ['passed', count(v => v === PASS || v === SKIP), 'pass'], ['with a warning', count(v => v === WARN), 'warn'],
    ['failed', count(v => v === FAIL), 'fail'], ['unknown', count(v => v === UNKNOWN), 'unknown'],
    ['suspect', nodes.filter(n => n.isSuspect).length, 'warn'], ['not judged', count(v => v === 0), 'skip-v'],
  ].filter(([, n], i) => n || i === 0 || i === 2)
    .map(([word, n, cls]) => el('div', {}, el('dt', {}, word), el('dd', { class: n ? cls : 'none' }, String(n)))));
  const list = attentionRows();
  byId('attention').replaceChildren(...(list.length ? attentionTable(list) : []));
  byId('notes').replaceChildren(...(D.notes.length
    ? [el('h3', {}, 'What was done'), el('ul', {}, ...D.notes.map(note => el('li', {}, note)))] : []));
  byId('foot').textContent = D.program + ', ' + D.records + ' records'
    + (D.bad_left_out ? '; too many verdicts that did not pass: ' + D.bad_left_out + ' are left out of the table' : '')
    + (D.passed_left_out ? '; ' + D.passed_left_out + ' verdicts that passed are left out of the table' : '')
    + '.';
}
