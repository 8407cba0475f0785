import {
  guardedFetch,
  hasRole,
  outgoingAddress,
  RenewedCertificate,
  secureFetch,
  type Clock,
  type Issuer,
  type TlsRole,
} from '@granary/kernel';

const FETCHES_MAX = 2_000;

interface CloudConnectionsOptions {
  readonly clock: Clock;
  /** The installation's authority; without it the portal shows no certificate when it connects. */
  readonly authority?: Issuer | undefined;
  /** Clouds on other machines may be reached in the clear. */
  readonly isInsecure?: boolean | undefined;
}

/** How the portal connects to clouds and arrays: whom it trusts, and what it shows of itself. */
export class CloudConnections {
  readonly authority: Issuer | undefined;
  readonly isInsecure: boolean;
  readonly #own: RenewedCertificate | undefined;
  readonly #fetches = new Map<string, typeof fetch>();

  constructor({ authority, clock, isInsecure = false }: CloudConnectionsOptions) {
    this.authority = authority;
    this.isInsecure = isInsecure;
    this.#own =
      authority &&
      new RenewedCertificate({ issuer: authority, clock, role: 'portal', id: authority.id, hosts: [], use: 'client' });
  }

  /**
   * A way to the cloud, or to one of its arrays, whose certificate must be of the issuer that is trusted for that cloud
   * and name the role. Null: the cloud serves in the clear.
   */
  fetchTo(trusted: string | null, role: TlsRole, id?: string): typeof fetch {
    if (trusted === null) return guardedFetch;
    const key = `${role} ${id ?? ''} ${trusted}`;
    const known = this.#fetches.get(key);
    if (known) return known;
    if (this.#fetches.size >= FETCHES_MAX) this.#fetches.clear();
    const own = this.#own;
    const made = secureFetch({
      trusted: [trusted],
      client: own && (() => own.source.current),
      addressOf: outgoingAddress,
      problemOf: ({ subjectaltname }) =>
        hasRole(subjectaltname, role, id) ? undefined : new Error(`its certificate is not that of the ${role}`),
    });
    this.#fetches.set(key, made);
    return made;
  }

  stop(): void {
    this.#own?.stop();
  }
}
