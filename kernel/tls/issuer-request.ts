import { createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import { splitChain } from './certificate.ts';

const CURVE = 'prime256v1';

/**
 * The key that a cloud wants signed, from the certificate it signed itself: undefined unless that is one, by a key of the
 * kind we use. That it signed itself shows that the sender has the private key.
 */
export function requestedKey(certificate: string): KeyObject | undefined {
  const [own, ...others] = splitChain(certificate).map(parsed);
  if (!own || others.length > 0) return undefined;
  const { publicKey } = own;
  const isOurs = publicKey.asymmetricKeyType === 'ec' && publicKey.asymmetricKeyDetails?.namedCurve === CURVE;
  return isOurs && own.ca && own.verify(publicKey) ? publicKey : undefined;
}

/** Why a chain is not the certificate of a cloud's issuer, in words; undefined when it is. */
export function issuerProblem(chain: string, key: KeyObject, authority: string): string | undefined {
  const [own, root, ...others] = splitChain(chain).map(parsed);
  const expected = new X509Certificate(authority);
  if (!own || root?.fingerprint256 !== expected.fingerprint256 || others.length > 0)
    return 'is not of the authority that this cloud trusts';
  if (!own.ca || !own.verify(expected.publicKey)) return 'is not signed by the authority that this cloud trusts';
  return own.publicKey.equals(createPublicKey(key)) ? undefined : 'is for another key';
}

function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
