import {
  guardedFetch,
  hasRole,
  outgoingAddress,
  plainRequests,
  RenewedCertificate,
  secureFetch,
  secureRequests,
  type Clock,
  type Issuer,
  type StartRequest,
  type TlsRole,
} from '@granary/kernel';

const FETCHES_MAX = 2_000;
/** To one array, of requests that are passed on as they stream: some of them have no end of their own. */
const STREAMS_MAX = 1_024;

const inTheClear = plainRequests(outgoingAddress, STREAMS_MAX);

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
  readonly #requests = new Map<string, StartRequest>();

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
    return kept(this.#fetches, keyOf(trusted, role, id), () => secureFetch(this.#trustIn(trusted, role, id)));
  }

  /** The same way, for requests whose bodies and answers are streams. */
  requestsTo(trusted: string | null, role: TlsRole, id?: string): StartRequest {
    if (trusted === null) return inTheClear;
    const make = () => secureRequests(this.#trustIn(trusted, role, id), STREAMS_MAX);
    return kept(this.#requests, keyOf(trusted, role, id), make);
  }

  #trustIn(trusted: string, role: TlsRole, id: string | undefined): Parameters<typeof secureFetch>[0] {
    const own = this.#own;
    return {
      trusted: [trusted],
      client: own && (() => own.source.current),
      addressOf: outgoingAddress,
      problemOf: ({ subjectaltname }) =>
        hasRole(subjectaltname, role, id) ? undefined : new Error(`its certificate is not that of the ${role}`),
    };
  }

  stop(): void {
    this.#own?.stop();
  }
}

function keyOf(trusted: string, role: TlsRole, id: string | undefined): string {
  return `${role} ${id ?? ''} ${trusted}`;
}

function kept<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size >= FETCHES_MAX) known.clear();
  const made = make();
  known.set(key, made);
  return made;
}
