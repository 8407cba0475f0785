import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { hostilePeer, hostilities, outcomeOf } from '../../kernel/edge/testing/hostile-peer.ts';
import { HttpClient } from './http.ts';
import { openLink, type ProxyType, type Route } from './link.ts';
import { openTunnel } from './tunnel.ts';

const proxies: ProxyType[] = ['http', 'http10', 'socks4', 'socks4a', 'socks4_hostname', 'socks5'];
const DIRECT = { proxy: null } as const;

function routesTo({ host, port }: { host: string; port: number }): Record<string, Route> {
  const end = { host: '127.0.0.1', port: 9, isTls: false };
  const ways: Record<string, Route> = {
    'another array': { host, port, isTls: false, ...DIRECT },
    'another array over TLS': { host, port, isTls: true, ...DIRECT },
  };
  for (const type of proxies) {
    const proxy = { type, host, port, user: 'ada', password: 'secret' };
    ways[`a ${type} proxy`] = { ...end, proxy };
    ways[`a ${type} proxy to TLS`] = { ...end, isTls: true, proxy };
  }
  return ways;
}

suite('hostile peers', { concurrency: true }, () => {
  for (const [what, hostility] of Object.entries(hostilities)) {
    void test(`a peer that ${what} makes a request fail, and nothing else`, { timeout: 60_000 }, async (t) => {
      const peer = await hostilePeer(t, hostility);
      await Promise.all(
        Object.entries(routesTo(peer)).map(async ([way, route]) => {
          const client = new HttpClient(route);
          t.after(() => client.close());
          const request = { method: 'POST', path: '/api/x', body: 'x'.repeat(1_000), timeoutMs: 3_000 };
          const outcome = await outcomeOf(client.send(request));
          assert.notEqual(outcome, '', way);
          if (route.proxy) assert.notEqual(outcome, 'answered', way);
        }),
      );
    });
  }
});

test('the error page of a proxy is reported by its status', async (t) => {
  const peer = await hostilePeer(t, hostilities['answers an error page in one write'] as () => void);
  const route = { host: '127.0.0.1', port: 9, isTls: false } as const;
  const proxy = { type: 'http', ...peer, user: null, password: null } as const;
  await assert.rejects(openLink({ ...route, proxy }), /the proxy refused the user or password/);
});

test('what comes from a socket after its tunnel failed ends nothing', async (t) => {
  const peer = await hostilePeer(t, hostilities['answers an error page and resets'] as () => void);
  const socket = connect(peer.port, peer.host);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const proxy = { type: 'http', user: null, password: null };
  await assert.rejects(openTunnel(socket, { host: '127.0.0.1', port: 9 }, proxy), /the proxy/);
  if (!socket.closed) await once(socket, 'close');
});
