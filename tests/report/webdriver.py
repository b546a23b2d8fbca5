# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium by chromedriver's HTTP protocol (w3.org/TR/webdriver2), standard library only."""
import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
ARGUMENTS = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update',
             '--disable-sync', '--no-first-run', '--disable-dev-shm-usage', '--hide-scrollbars', '--force-device-scale-factor=1']


class Fault(Exception):
    """An error that the driver reports."""


class Browser:
    def __init__(self, width=1360, height=1000, dark=False):
        self.home = tempfile.mkdtemp(prefix='muster-browser.')
        # its own process group, so that whatever it started ends with it
        self.driver = subprocess.Popen(['chromedriver', '--port=0'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True, start_new_session=True, env={**os.environ, 'HOME': self.home, 'TMPDIR': self.home})
        self.session = None
        try:
            self.url = f'http://127.0.0.1:{self.port()}'
            arguments = ARGUMENTS + [f'--window-size={width},{height}', f'--user-data-dir={self.home}/profile']
            if dark:
                arguments.append('--force-dark-mode')
            answer = self.call('POST', '/session', {'capabilities': {'alwaysMatch': {
                'browserName': 'chrome', 'goog:chromeOptions': {'binary': shutil.which('chromium'), 'args': arguments},
                'goog:loggingPrefs': {'browser': 'ALL'}}}})
            self.session = '/session/' + answer['sessionId']
        except BaseException:
            self.close()
            raise

    def port(self):
        for line in self.driver.stdout:
            if 'started successfully on port' in line:
                return int(line.rstrip().rstrip('.').rsplit(' ', 1)[1])
        raise Fault('chromedriver did not start')

    def call(self, method, path, body=None):
        data = None if method == 'GET' or method == 'DELETE' else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={'Content-Type': 'application/json'})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise Fault(json.load(error)['value']['message'].splitlines()[0]) from None

    def on(self, method, path, body=None):
        return self.call(method, self.session + path, body)

    def open(self, path):
        """Opens a file; returns the seconds until the page says that it is ready."""
        begin = time.monotonic()
        self.on('POST', '/url', {'url': 'file://' + os.path.abspath(path)})
        while self.run('return document.documentElement.dataset.ready') != 'yes':
            if time.monotonic() - begin > 60:
                raise Fault('the page is not ready after 60 s: ' + '; '.join(self.complaints()))
            time.sleep(0.05)
        return time.monotonic() - begin

    def run(self, script, *arguments):
        return self.on('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def wait(self, script, expected):
        """Returns the script's result once it is as expected, otherwise the last one after two seconds."""
        for _ in range(40):
            found = self.run(script)
            if found == expected:
                break
            time.sleep(0.05)
        return found

    def find(self, selector):
        return self.on('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]

    def click(self, selector):
        self.on('POST', f'/element/{self.find(selector)}/click')

    def type(self, selector, text):
        self.on('POST', f'/element/{self.find(selector)}/value', {'text': text})

    def pointer(self, selector, x, y, click=False):
        """Moves to x, y of the element's upper left corner, in CSS pixels."""
        box = self.run('const e = document.querySelector(arguments[0]); e.scrollIntoView({block: "start"});'
                       'const b = e.getBoundingClientRect(); return [b.left, b.top];', selector)
        actions = [{'type': 'pointerMove', 'duration': 0, 'x': round(box[0] + x), 'y': round(box[1] + y)}]
        if click:
            actions += [{'type': 'pointerDown', 'button': 0}, {'type': 'pointerUp', 'button': 0}]
        self.on('POST', '/actions', {'actions': [{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': actions}]})

    def keys(self, *keys):
        actions = [{'type': kind, 'value': key} for key in keys for kind in ('keyDown', 'keyUp')]
        self.on('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})

    def text(self, selector):
        return self.run('return document.querySelector(arguments[0]).innerText', selector)

    def complaints(self):
        """Returns the warnings and errors on the console since the last call."""
        return [entry['message'] for entry in self.on('POST', '/se/log', {'type': 'browser'}) if entry['level'] in ('WARNING', 'SEVERE')]

    def screenshot(self, path, whole=True):
        answer = self.on('POST', '/goog/cdp/execute', {'cmd': 'Page.captureScreenshot', 'params': {'format': 'png', 'captureBeyondViewport': whole}})
        with open(path, 'wb') as file:
            file.write(base64.b64decode(answer['data']))

    def close(self):
        try:
            if self.session:
                self.on('DELETE', '')
        except (OSError, Fault):
            pass
        try:
            os.killpg(self.driver.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.driver.wait()
        shutil.rmtree(self.home, ignore_errors=True)
