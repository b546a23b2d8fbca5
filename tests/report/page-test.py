# SPDX-License-Identifier: Apache-2.0
"""page-test.py DIRECTORY - tests the pages of t2962 in a browser. Prints a line for each check: ok or
not, its name and what was found, with tabs between. MUSTER_SCREENSHOTS=DIR keeps pictures of the pages;
DIR/report.png is doc/report.png, the picture in the README, and DIR/report.txt is doc/report.txt, its words.
MUSTER_AXE=FILE, the axe.min.js of axe-core (github.com/dequelabs/axe-core), also looks for barriers with it."""
import base64
import difflib
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from webdriver import Browser  # noqa: E402

work = sys.argv[1]
pictures = os.environ.get('MUSTER_SCREENSHOTS')
axe = os.environ.get('MUSTER_AXE')


def check(name, found, expected):
    is_good = expected(found) if callable(expected) else found == expected
    print('ok' if is_good else 'not', name, repr(found).replace('\t', ' '), sep='\t', flush=True)


def has(text):
    return lambda found: text in found


def small(browser):
    browser.open(f'{work}/small.html')
    check('the summary comes first and names node and part', browser.text('#summary h2'), 'n3 failed: eth1')
    check('the next step stands beside it', browser.text('#attention tbody tr'), has('Move the cable'))
    check('what was done stands below', browser.text('#notes'), has('n3 drained'))
    check('the map says what it shows', browser.run('return document.querySelector("#matrix").getAttribute("aria-label")'),
          has('Bandwidth of 4 by 4 nodes on eth1: 12 pairs'))
    cell = browser.run('return map.cell')
    browser.pointer('#matrix', 46 + 2.5 * cell, 20 + 0.5 * cell)
    check('pointing at a cell shows the pair', browser.text('#pair'), has('n1 → n3, eth1'))
    check('... its figure, interval, limit and verdict', ' '.join(browser.text('#pair').split()),
          lambda t: 'Gb/s (' in t and 'limit 160 Gb/s (nominal)' in t and '✕ fail' in t and 'leaf1 → leaf2' in t)
    browser.pointer('#matrix', 46 + 2.5 * cell, 20 + 0.5 * cell, click=True)
    browser.pointer('#matrix', 46 + 1.5 * cell, 20 + 0.5 * cell)
    check('a click holds it', browser.text('#pair h4'), 'n1 → n3, eth1 · held')
    browser.run('document.querySelector("#matrix").focus()')
    browser.keys('\ue015')
    check('arrow keys move on', browser.text('#pair h4'), 'n2 → n3, eth1 · held')
    browser.keys('\ue00c')
    check('Escape lets go', browser.text('#pair'), 'No pair is chosen.')
    browser.click('#rail-choice [data-value="1"]')
    check('another rail', browser.run('return document.querySelector("#matrix").getAttribute("aria-label")'), has('on eth2'))
    browser.click('#figure-choice [data-value=latency]')
    check('another figure', browser.run('return document.querySelector("#matrix").getAttribute("aria-label")'), has('Latency'))
    browser.click('#figure-choice [data-value=bandwidth_together]')
    check('all rails at once', browser.run('return document.querySelector("#matrix").getAttribute("aria-label")'), has('All rails at once of 4 by 4'))
    browser.click('#figure-choice [data-value=difference]')
    check('the difference by direction', browser.text('#worst-h'), 'Pairs that differ most by direction')
    check('nodes are in their leaves', browser.run('return [...document.querySelectorAll(".leaf")].map(l => l.querySelector("h3").innerText + ":" + [...l.querySelectorAll(".chip")].map(c => c.innerText).join())'),
          ['leaf1:n1,n2', 'leaf2:n3,n4'])
    check('a slow NIC is no slow leaf', browser.run('return [...document.querySelectorAll("#between tbody td")].map(c => parseInt(c.innerText) >= 95 || c.innerText)'), [True, True, True, '–'])
    check('a histogram for each rail and metric', browser.run('return document.querySelectorAll("#distributions figure").length'), 4)
    check('... that counts what is below the limit', browser.text('#bandwidths figcaption'), has('6 of 12 below the limit of 160 Gb/s'))
    check('sizes in the largest unit', browser.run('return [...document.querySelectorAll("#sweep tbody tr td:nth-child(2)")].map(c => c.innerText).slice(-4).join()'), '1 MiB,4 MiB,16 MiB,64 MiB')
    check('the sweep of collectives', browser.run('return document.querySelectorAll("#sweep tbody tr").length'), 9)
    check('the console is silent', browser.complaints(), [])


def table(browser):
    browser.open(f'{work}/medium.html')
    rows = 'return [...document.querySelectorAll("#verdict-table tbody tr")].map(r => r.innerText.replace(/\\s+/g, " "))'
    everything = browser.run(rows)
    check('the table shows what did not pass, worst first', [everything[0][:6], everything[-1][:6]], ['✕ fail', '! warn'])
    browser.type('#filter', 'n5 eth2')
    check('the filter keeps rows that have all words', browser.run(rows), lambda r: len(r) == 2 and all('n5' in x and 'eth2' in x for x in r))
    browser.run('const f = document.querySelector("#filter"); f.value = ""; f.dispatchEvent(new Event("input"))')
    check('an empty filter leaves all', browser.run(rows), everything)
    browser.click('#verdict-choice [data-verdict=fail]')
    check('failures can be left out', browser.run(rows), lambda r: r and not any(x.startswith('✕') for x in r))
    browser.click('#verdict-choice [data-verdict=fail]')
    browser.click('#verdict-choice [data-verdict=pass]')
    check('passes can be shown, a part at a time', browser.text('#verdict-count'), lambda t: t.startswith('200 of 3'))
    browser.click('#more')
    check('... and more of them', browser.run(rows), lambda r: len(r) > 200)
    browser.click('#verdict-table [data-sort=node]')
    check('sorted by node, n2 before n10', browser.run('return [...document.querySelectorAll("#verdict-table tbody tr td:nth-child(2)")].map(c => c.innerText).filter((n, i, a) => n && n !== a[i - 1]).slice(0, 3)'), ['n1', 'n2', 'n3'])
    check('... and it says so', browser.run('return document.querySelector("[data-sort=node]").closest("th").getAttribute("aria-sort")'), 'ascending')
    browser.click('#verdict-table [data-sort=node]')
    check('... the other way round', browser.run('return document.querySelector("#verdict-table tbody tr td:nth-child(2)").innerText'), 'n64')
    browser.click('#attention tbody tr:nth-child(2) button')
    check('a click shows a node', browser.text('#node-detail h3'), lambda t: t in ('n3', 'n5', 'n12'))
    lowest = 'return [...document.querySelectorAll("#leaf-rails tbody tr")].map(r => r.innerText.replace(/\\s+/g, " "))'
    check('rails by leaf, the lowest first, each with its lowest node', browser.run(lowest)[0], lambda t: t.startswith('leaf1 ✕ 25 % n3 ✕ 45 % n5'))
    check('... all leaves', browser.run(lowest), lambda r: len(r) == 8)
    browser.click('#leaf-rails tbody button')
    check('... and a click shows the node', browser.text('#node-detail h3'), 'n3')
    check('no node fails for an uplink', browser.run('return [...document.querySelectorAll("#attention tr")].filter(r => r.innerText.includes("uplink")).map(r => r.cells[1].innerText)'), ['between nodes'])
    check('the uplink is marked between its leaves', browser.run('return [...document.querySelectorAll("#between td")].filter(c => c.innerText.startsWith("✕")).map(c => c.cellIndex + "/" + c.parentNode.rowIndex)'), ['3/1', '1/3'])
    check('numbers agree', browser.run('return [...document.querySelectorAll("#counts div")].map(d => d.innerText.replace(/\\s+/g, " "))'), ['passed 60', 'failed 3', 'unknown 1'])
    check('the console is silent', browser.complaints(), [])


def theme(browser):
    colour = 'return getComputedStyle(document.body).backgroundColor'
    browser.open(f'{work}/small.html')
    check('light if the system is light', browser.run(colour), 'rgb(255, 255, 255)')
    browser.on('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setEmulatedMedia', 'params': {'features': [{'name': 'prefers-color-scheme', 'value': 'dark'}]}})
    check('dark if the system is dark', browser.run(colour), 'rgb(15, 19, 23)')
    fault = 'return map.marks[0][2]'
    check('... and so is the map', browser.wait(fault, [255, 122, 61]), [255, 122, 61])
    browser.click('[data-theme-choice=light]')
    check('the button overrules it', browser.run(colour), 'rgb(255, 255, 255)')
    check('... for the map too', browser.wait(fault, [217, 72, 15]), [217, 72, 15])
    check('the pressed button says so', browser.run('return [...document.querySelectorAll("[data-theme-choice]")].map(b => b.getAttribute("aria-pressed"))'), ['false', 'true', 'false'])
    browser.click('[data-theme-choice=dark]')
    browser.on('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setEmulatedMedia', 'params': {'media': 'print'}})
    check('printed, it is light', browser.run(colour), 'rgb(255, 255, 255)')
    check('... and no table is cut off', browser.run('return getComputedStyle(document.querySelector(".scroll")).overflowX'), 'visible')
    browser.on('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setEmulatedMedia', 'params': {'media': '', 'features': []}})
    browser.click('[data-theme-choice=light]')


def phone(browser):
    browser.on('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setDeviceMetricsOverride', 'params': {'width': 390, 'height': 844, 'deviceScaleFactor': 1, 'mobile': True}})
    for name in ('small', 'medium', 'changes', 'job'):
        browser.open(f'{work}/{name}.html')
        check(f'{name}: as wide as a phone', browser.run('return document.documentElement.scrollWidth'), 390)
        check('... what to do is not cut off', browser.run('const a = document.querySelector("#attention .scroll"); return a.scrollWidth - a.clientWidth'), 0)
        check('... no text stands one letter a line', browser.run('return [...document.querySelectorAll("td")].filter(c => c.offsetHeight > 240).map(c => c.innerText)'), [])
        check('... and no button', browser.run('return [...document.querySelectorAll("button")].filter(b => b.offsetHeight > 40).map(b => b.innerText)'), [])
    browser.on('POST', '/goog/cdp/execute', {'cmd': 'Emulation.clearDeviceMetricsOverride', 'params': {}})


def picture(browser):
    browser.on('POST', '/goog/cdp/execute', {'cmd': 'Emulation.setDeviceMetricsOverride', 'params': {'width': 1120, 'height': 1160, 'deviceScaleFactor': 1, 'mobile': False}})
    browser.open(f'{work}/readme.html')
    now, kept = f'{pictures or work}/report', os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../doc/report')
    browser.screenshot(now + '.png', whole=False)
    words = browser.run('return [...document.querySelectorAll("header, #summary, #links > :not(#worst-h, #worst-h ~ *)")].map(e => e.innerText).join("\\n").trim().replace(/\\s*\\n\\s*/g, "\\n") + "\\n"')
    with open(now + '.txt', 'w', encoding='utf-8') as file:
        file.write(words)
    with open(kept + '.txt', encoding='utf-8') as file:
        check('the picture in the README has the words of the page', list(difflib.unified_diff(file.read().split('\n'), words.split('\n'), n=0, lineterm='')), [])
    urls = []
    for path in (now + '.png', kept + '.png'):
        with open(path, 'rb') as file:
            urls.append('data:image/png;base64,' + base64.b64encode(file.read()).decode())
    # both made small, where neither fonts nor edges count
    difference = browser.run('''
        const pixels = urls => Promise.all(urls.map(async url => {
            const image = new Image(), canvas = document.createElement('canvas'), context = canvas.getContext('2d');
            image.src = url;
            await image.decode();
            canvas.width = canvas.height = 40;
            context.imageSmoothingQuality = 'high';
            context.drawImage(image, 0, 0, 40, 40);
            return context.getImageData(0, 0, 40, 40).data;
        }));
        return pixels(arguments[0]).then(([a, b]) => a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length / 255);
    ''', urls)
    check('the picture in the README looks like the page', difference, lambda d: d < 0.01)
    browser.on('POST', '/goog/cdp/execute', {'cmd': 'Emulation.clearDeviceMetricsOverride', 'params': {}})


def barriers(browser):
    if not axe:
        return
    for name in ('small', 'medium', 'changes', 'job', 'training', 'hostile'):
        browser.open(f'{work}/{name}.html')
        with open(axe, encoding='utf-8') as file:
            browser.run(file.read())
        for theme in ('light', 'dark'):
            browser.click(f'[data-theme-choice={theme}]')
            browser.run('window.barriers = null; axe.run().then(r => { window.barriers = r.violations.map(v => v.id + ": " + v.nodes[0].html); })')
            check(f'{name}, {theme}: axe-core finds no barrier', browser.wait('return window.barriers', []), [])


def others(browser):
    browser.open(f'{work}/large.html')
    check('512 nodes, few rounds: the map is there', browser.run('return document.querySelector("#matrix").getAttribute("aria-label")'), has('of 512 by 512 nodes on eth1: 12288 pairs'))
    browser.run('choose(map.place[299], map.place[299], true)')
    marked = browser.run('return map.marks.length')
    check('... what failed stands out', marked, lambda n: n == 48)
    check('the console is silent', browser.complaints(), [])
    browser.open(f'{work}/huge.html')
    check('4,096 nodes: the map is there', browser.run('return document.querySelector("#matrix").getAttribute("aria-label")'), has('of 4096 by 4096 nodes on eth1: 32768 pairs'))
    browser.click('#rail-choice [data-value="1"]')
    check('... only measured figures take room', browser.run('return [rails[1].bandwidth.values.length, map.image.width < 1400]'), [32768, True])
    check('... what failed stands out', browser.run('return map.marks.length'), 16)
    check('... in the enlarged part too', browser.run('choose(map.marks[0][0], map.marks[0][1], true);'
          'const c = document.querySelector("#lens"), p = c.getContext("2d").getImageData(c.width / 2, c.height / 2, 1, 1).data; return [p[0], p[1], p[2]]'), [217, 72, 15])
    check('the lowest rail comes first', browser.run('return document.querySelector("#leaf-rails tbody tr").innerText.replace(/\\s+/g, " ")'), lambda t: t.startswith('leaf94') and '✕ 25 % n3000' in t)
    check('the others on request', browser.run('const t = document.querySelector("#leaf-rails").tBodies[0], n = t.rows.length; document.querySelector("#leaf-rails-more").click(); return [n, t.rows.length]'), [12, 128])
    browser.type('#filter', 'n3000')
    check('a node is found among them', browser.run('return [...document.querySelectorAll("#verdict-table tbody tr")].every(r => r.innerText.includes("n3000"))'), True)
    check('the console is silent', browser.complaints(), [])
    browser.open(f'{work}/hostile.html')
    check('hostile records are text', [browser.run('return document.title'), browser.run('return document.querySelectorAll("main img, main b, main script").length')],
          ['muster <script>alert(1)</script>', 0])
    check('... and readable', browser.text('#attention tbody'), has('<b>bold</b>'))
    browser.open(f'{work}/odd.html')
    check('node names that are properties of every object break nothing', browser.wait('return document.documentElement.dataset.ready', 'yes'), 'yes')
    check('... such a node has no history', browser.run('return document.querySelectorAll("#node-detail h3").length'), 1)
    check('... such a message has no advice', browser.text('#attention tbody'), lambda t: 'native code' not in t and 'function' not in t)
    check('... a time that is no date is left out', ' '.join(browser.text('#node-detail').split()), has('certificate until –'))
    check('the console is silent', browser.complaints(), [])
    browser.open(f'{work}/hostile.html')
    check('every control has a name', browser.run('return [...document.querySelectorAll("button, input, canvas:not([aria-hidden])")].filter(e => e.offsetParent && !(e.innerText || e.getAttribute("aria-label") || (e.labels && e.labels.length))).length'), 0)
    check('the console is silent', browser.complaints(), [])


def none(browser):
    browser.open(f'{work}/none.html')
    check('a rail that carries nothing is the worst between leaves', browser.run('return [...document.querySelectorAll("#between tbody td")].map(c => c.innerText)'), 4 * ['0 %'])
    check('... and within each', browser.run('return [...document.querySelectorAll("#leaf-rails tbody tr")].map(r => r.cells[2].innerText.slice(0, 5))'), 2 * ['✕ 0 %'])
    check('the console is silent', browser.complaints(), [])


def changes(browser):
    browser.open(f'{work}/changes.html')
    check('what changed since the last good run stands beside the fault', browser.text('#attention tbody'),
          has('since its last good run: a: 6.1 → 6.2; b: 6.1 → 6.2; cmdline: ' + 23 * '0' + '… → ' + 23 * '0' + '…; and 1 more'))
    check('... all of it with the node', browser.run('return [...document.querySelectorAll("#changes li")].map(l => l.innerText.split(":")[0])'), ['a', 'b', 'cmdline', 'kernel'])
    check('... and which run that was', browser.text('#node-detail'), has('Run good, 2026-11-26 13:33 UTC.'))
    check('the console is silent', browser.complaints(), [])


def job(browser):
    browser.open(f'{work}/job.html')
    check('the page of a job is named so', [browser.text('#title'), browser.text('#subtitle').split(' · ')[:2]], ['Job 4711', ['run p', '3 nodes']])
    check('... its nodes, the worst first, with certificates and last certifications', browser.run('return [...document.querySelectorAll("#job tbody tr")].map(r => [...r.cells].map(c => c.innerText).join("|"))'),
          ['n2|✕ fail|eth1 receives 50 of 200 Mb/s|certified until 2026-12-05 12:50 UTC|✓ pass 2026-11-26 16:36 UTC',
           'n3|? unknown|–|no certificate is known|not in the history', 'n1|✓ pass|–|no certificate is known|✕ fail 2026-11-26 16:20 UTC'])
    check('... in the list of sections', browser.text('#sections'), has('Nodes of the job'))
    check('the console is silent', browser.complaints(), [])
    browser.open(f'{work}/small.html')
    check('a certification has no section for a job', browser.run('return document.querySelector("#job").hidden'), True)


def failed(browser):
    browser.open(f'{work}/failed.html')
    check('an uplink between failed nodes is marked, not only colored', browser.run('return document.querySelector("#between tbody tr td:nth-child(3)").innerText'), '✕ –')
    check('the console is silent', browser.complaints(), [])


def training(browser):
    browser.open(f'{work}/training.html')
    check('a run of the trainer is summed up', browser.text('#summary h2'), 'Trained 1000 steps, loss 5.00 to 2.00')
    check('... with curves of loss and speed', browser.run('return [...document.querySelectorAll("#training figcaption")].map(c => c.innerText)'),
          ['Loss 1000 steps, loss 5.00 to 2.00', 'Speed tokens per second, median 48000'])
    check('... that end where it ended', browser.run('return document.querySelector("#training svg").lastChild.textContent'), '1000')
    check('... of no more points than a screen shows', browser.run('return document.querySelector("#training polyline").getAttribute("points").split(" ").length'), 400)
    check('the console is silent', browser.complaints(), [])
    browser.open(f'{work}/small.html')
    check('without training there is no section for it', browser.run('return document.querySelector("#training").hidden'), True)


def sweep(browser):
    browser.open(f'{work}/sweep.html')
    check('150,000 points of a collective are one curve', browser.wait('return document.querySelectorAll("#sweeps .curve").length', 1), 1)
    check('... and a table, a part at a time', browser.run('const b = document.querySelector("#sweep button"); return [document.querySelectorAll("#sweep tbody tr").length, b && b.innerText]'), [200, 'Show all 150000'])
    check('the page is complete', browser.wait('return document.documentElement.dataset.ready', 'yes'), 'yes')
    check('the console is silent', browser.complaints(), [])


browser = Browser()
try:
    for part in (picture, small, table, theme, phone, changes, job, training, sweep, none, failed, others, barriers):
        part(browser)
    for name in ('small', 'medium', 'large', 'training') if pictures else ():
        browser.open(f'{work}/{name}.html')
        browser.screenshot(f'{pictures}/{name}.png')
finally:
    browser.close()
