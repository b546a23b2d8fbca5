/* What is read first is drawn first: a page of a thousand nodes is there before its charts are. */
summaryStart();
jobStart();
matrixStart();
verdictsStart();
nodeStart();
collectivesStart();
trainingStart();
chartsShow();
topologyShow();
byId('sections').replaceChildren(...[...document.querySelectorAll('main > section')].filter(s => !s.hidden)
  .map(s => el('li', {}, el('a', { href: '#' + s.id }, s.id === 'summary' ? 'Summary' : s.querySelector('h2').textContent))));
themeStart();
setTimeout(() => {
  chartsStart();
  topologyStart();
  document.documentElement.dataset.ready = 'yes';
}, 0);
