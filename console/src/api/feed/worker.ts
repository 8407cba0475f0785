import { Streams } from './streams.ts';
import { SILENT_MS_MAX, Tab, type TabMessage } from './tabs.ts';

/** Has the streams of changes of all tabs: there is one such worker in a browser for each service. */
const streams = new Streams({
  open: (url) => new EventSource(url),
  schedule: (action, ms) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
});

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const tab = new Tab(streams, (delivery) => port.postMessage(delivery));
  let announcedAt = Date.now();
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    announcedAt = Date.now();
    tab.update(data);
  });
  // A port does not report that its tab was closed. A tab that was only suspended announces itself anew.
  setInterval(() => {
    if (Date.now() - announcedAt > SILENT_MS_MAX) tab.update({});
  }, SILENT_MS_MAX / 5);
  port.start();
});
