import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageProtection } from './protection.ts';
import { serve } from './testing/server.ts';

test('every reply is taken for what it is and shown in no frame, errors too', async (t) => {
  for (const kind of ['portal', 'array'] as const) {
    const { app } = await serve(t, kind);
    const paths = ['/', '/healthz', '/readyz', '/metrics', '/api/openapi.json', '/api/docs/', '/api/docs/js/scalar.js'];
    const wrong = ['/api/nothing', '/api/things', '/api/docs/nothing', '/%', '/api/things?a=%zz', '/assets/x'];
    for (const url of [...paths, ...wrong]) {
      const { headers, statusCode } = await app.inject({ url });
      assert.equal(headers['x-content-type-options'], 'nosniff', `${url}: ${statusCode}`);
      const policy = String(headers['content-security-policy']);
      assert.match(policy, /default-src 'none'/, url);
      assert.match(policy, /frame-ancestors 'none'/, url);
      assert.doesNotMatch(policy, /script-src[^;]*(?:unsafe|https?:|\*)/, url);
    }
  }
});

test('of a page that is not ours, the scripts it has may run and no others', () => {
  const { 'content-security-policy': policy } = pageProtection(
    '<script src="a.js"></script><script type="text/javascript">alert(1)\n</script><script>2</script>',
  );
  assert.match(String(policy), /script-src 'self' 'sha256-[\w+/]{43}=' 'sha256-[\w+/]{43}=';/);
});
