import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { newSecret } from '../auth/vault.ts';
import { certificateFingerprint, CloudIssuerFiles, Issuer, parseJoinCode, writeJoinCode } from './index.ts';

const now = Date.now();
const authority = Issuer.createAuthority('one', now).issuer;
const fingerprint = certificateFingerprint(authority.certificate);

test('a join code holds the portal, its fingerprint and a secret', () => {
  for (const portal of ['192.0.2.1:7400', '[2001:db8::1]:7400', 'portal.example.org:443']) {
    const secret = newSecret(16);
    const text = writeJoinCode({ portal, fingerprint, secret });
    assert.match(text, /^[A-Za-z0-9.:[\]/_-]+$/, 'no shell minds it');
    const read = parseJoinCode(` ${text}\n`);
    assert.deepEqual([read?.portal, read?.fingerprint, read?.secret], [portal, fingerprint, secret]);
  }
});

test('what is not a whole join code is none', () => {
  const code = writeJoinCode({ portal: '192.0.2.1:7400', fingerprint, secret: newSecret(16) });
  const bad = [
    '',
    code.slice(0, -1),
    `${code}A`,
    code.replace(':7400', ''),
    code.replace('192', '1 2'),
    `https://${code}`,
  ];
  for (const text of bad) assert.equal(parseJoinCode(text), undefined, text);
});

test('a cloud takes a certificate of the authority it trusts, for its own key, and no other', (t) => {
  const files = new CloudIssuerFiles(temporaryFolder(t));
  const other = Issuer.createAuthority('another', now).issuer;
  const unsigned = files.unsigned(now);
  assert.equal(files.load(), undefined, 'what it signed itself is not kept');
  const own = publicKeyOf(unsigned);
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const bad = [
    [other.issueIssuer(own, now), /not of the authority/],
    [authority.issueIssuer(foreign, now), /for another key/],
    [unsigned.certificate, /not of the authority/],
    [`${unsigned.certificate}${authority.certificate}`, /not signed by the authority/],
    ['no PEM', /not of the authority/],
  ] as const;
  for (const [chain, message] of bad) assert.throws(() => files.accept(chain, authority.certificate), message);
  assert.equal(files.load(), undefined);
  const issuer = files.accept(authority.issueIssuer(own, now, 365), authority.certificate);
  assert.equal(issuer.id, unsigned.id);
  assert.equal(new CloudIssuerFiles(temporaryFolder(t)).joinedBy(), undefined);
  files.keepJoinedBy('mark');
  assert.equal(files.joinedBy(), 'mark');
});

function publicKeyOf({ certificate }: Issuer) {
  const { publicKey } = new X509Certificate(certificate);
  return publicKey;
}
