import { createHash, timingSafeEqual } from 'node:crypto';
import { fail, isPortal, SignInAttempts, type Actor, type Clock, type CredentialSource } from '@granary/kernel';

interface Admin {
  readonly user: string;
  readonly key: string;
}

/** The administrator, and the claim of the portal that the request came from. */
export interface CloudActor extends Actor {
  readonly claim?: string | undefined;
}

const admin: CloudActor = { id: 'cloud_admin', role: 'cloud_admin' };
const CLAIM_HEADER = 'x-granary-claim';

/**
 * HTTP basic with the one administrator a cloud has. Wrong keys are answered slowly, right ones never. A cloud that knows
 * the authority of its portal looks at no key that comes without the portal's certificate.
 */
export function authenticator({ user, key }: Admin, clock: Clock, portalAuthority?: string) {
  const attempts = new SignInAttempts({ clock });
  const expected = digest(user, key);
  return (source: CredentialSource): CloudActor | undefined | Promise<CloudActor> => {
    if (portalAuthority !== undefined && !isPortal(source.socket, portalAuthority)) throw fail('not_its_portal');
    const given = basicCredentials(source.headers['authorization']);
    if (!given) return undefined;
    const claim = source.headers[CLAIM_HEADER];
    if (timingSafeEqual(digest(given.user, given.key), expected))
      return typeof claim === 'string' ? { ...admin, claim } : admin;
    return attempts.refuse({ username: given.user, ip: source.ip });
  };
}

function basicCredentials(header: string | string[] | undefined): Admin | undefined {
  const match = /^basic +([a-z0-9+/=_-]+)$/i.exec(typeof header === 'string' ? header : '');
  if (!match) return undefined;
  const text = Buffer.from(match[1] as string, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : { user: text.slice(0, colon), key: text.slice(colon + 1) };
}

/** Hashed, so that the comparison takes as long whatever the length; the separator cannot stand in a username. */
function digest(user: string, key: string): Buffer {
  return createHash('sha256').update(`${user}:${key}`).digest();
}
