import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { serve } from './testing/server.ts';

for (const dialect of ['portal', 'array'] as const) {
  test(`the address of a service (${dialect}) leads a browser to its API pages`, async (t) => {
    const { app } = await serve(t, dialect);
    const page = await app.inject({ url: '/', headers: { accept: 'text/html' } });
    assert.equal(page.statusCode, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(page.body, /Version 1\.2\.3 of Granary/);
    const links = [...page.body.matchAll(/href="([^"]+)"/g)].map((match) => match[1] as string);
    assert.ok(links.includes('/api/docs/'));
    for (const url of links) assert.equal((await app.inject({ url })).statusCode, 200, url);
  });
}

test('the page loads nothing but its own style, and runs nothing', async (t) => {
  const { app } = await serve(t, 'portal');
  const { body, headers } = await app.inject({ url: '/' });
  const policy = String(headers['content-security-policy']);
  const style = /<style>(.*?)<\/style>/s.exec(body)?.[1] ?? '';
  assert.match(policy, /^default-src 'none'; /);
  assert.ok(policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`));
  assert.doesNotMatch(policy, /unsafe/);
  assert.doesNotMatch(body, /<script|https?:\/\//);
});
