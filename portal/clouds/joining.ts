import {
  badParameter,
  certificateFingerprint,
  fail,
  fingerprint,
  formatUtc,
  newSecret,
  parseHostAndPort,
  requestedKey,
  SignInAttempts,
  splitChain,
  writeJoinCode,
  type GranaryError,
  type Issuer,
} from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import * as repository from './join-code-repository.ts';
import type { JoinCode } from './join-code.ts';
import { ISSUER_DAYS } from './renewals.ts';
import type { CloudService } from './service.ts';

const MINUTE_MS = 60_000;
/** For how long an expired code is still reported as expired. */
const REMEMBER_MS = 7 * 24 * 60 * MINUTE_MS;
const USABLE_MAX = 100;
/** Part of the code's text: 128 bits. */
const SECRET_BYTES = 16;

interface CodeWish {
  readonly name: string;
  readonly valid_minutes: number;
  readonly portal?: string | undefined;
  readonly adopt?: boolean | undefined;
}

interface JoinRequest {
  readonly code: string;
  readonly certificate: string;
  readonly host?: string | undefined;
  readonly port: number;
  readonly admin_user: string;
  readonly admin_key: string;
}

/**
 * How clouds on other machines join. An administrator gets a code that names the portal and pins what it shows. The other
 * machine makes its key there, serves with a certificate that it signed itself, and sends that with the code. The portal
 * connects back to it, trusting that certificate for this once, and reads its inventory. Then one transaction uses the
 * code up and registers the cloud, known from then on by the issuer that our authority signed for the same key.
 */
export class Joining {
  readonly #tools: Tools;
  readonly #clouds: CloudService;
  readonly #attempts: SignInAttempts;

  constructor(tools: Tools, clouds: CloudService) {
    this.#tools = tools;
    this.#clouds = clouds;
    this.#attempts = new SignInAttempts({ clock: tools.clock });
  }

  authority(): { certificate: string; fingerprint: string } {
    const { certificate } = this.#authority();
    return { certificate, fingerprint: certificateFingerprint(certificate) };
  }

  async createCode(wish: CodeWish, actor: PortalActor): Promise<{ name: string; code: string; expires_at: string }> {
    const { store, events, clock } = this.#tools;
    const { name } = wish;
    const portal = this.#addressFor(wish.portal);
    const pinned = this.#tools.place.fingerprintUnder(this.#authority().certificate);
    if (pinned === undefined) {
      throw fail('joining_needs_tls');
    }
    const secret = newSecret(SECRET_BYTES);
    const now = clock.now();
    const expiresAt = now + wish.valid_minutes * MINUTE_MS;
    await store.write((tx) => {
      repository.deleteExpiredBefore(tx, now - REMEMBER_MS);
      repository.deleteUnused(tx, name);
      if (repository.countUsable(tx, now) >= USABLE_MAX) throw fail('join_codes_limit', { max: USABLE_MAX });
      const codeHash = fingerprint(secret);
      repository.insertJoinCode(tx, {
        codeHash,
        name,
        createdBy: actor.username,
        adopts: wish.adopt === true,
        expiresAt,
      });
      const title = `A join code for cloud ${name} was made, valid until ${formatUtc(expiresAt)}.`;
      events.record(tx, { title, kind: 'cloud', subject: 'clouds', actor: actor.username });
    });
    return { name, code: writeJoinCode({ portal, fingerprint: pinned, secret }), expires_at: formatUtc(expiresAt) };
  }

  async join(request: JoinRequest, ip: string) {
    const { clock } = this.#tools;
    const attempt = { username: 'join code', ip };
    this.#attempts.check(attempt);
    const joinCode = this.#tools.store.read((db) => repository.findJoinCode(db, fingerprint(request.code)));
    const refusal = refusalOf(joinCode, clock.now());
    if (joinCode && refusal) await this.#recordRefusal(joinCode, ip);
    if (!joinCode || refusal) return this.#attempts.refuse(attempt, refusal);
    const publicKey = requestedKey(request.certificate);
    if (!publicKey) throw badParameter('certificate', 'must be one P-256 certificate that signed itself, in PEM');
    const chain = this.#authority().issueIssuer(publicKey, clock.now(), ISSUER_DAYS);
    const { name } = joinCode;
    const address = placeOf(request.host ?? ip, request.port);
    const { admin_user, admin_key, certificate: trusted } = request;
    const registration = { name, ip: address, admin_user, admin_key, trusted, adopt: joinCode.adopts };
    const cloudId = await this.#clouds.join(registration, splitChain(chain)[0] as string, (tx, id) => {
      // Another request may have used it while this one looked at the cloud.
      if (!repository.useJoinCode(tx, joinCode.id, clock.now())) throw this.#usedMeanwhile(joinCode);
      const title = `Cloud ${name} joined from ${address} by the code that ${joinCode.createdBy} made.`;
      this.#tools.events.record(tx, { title, subject: `cloud:${id}`, severity: 'notice' });
    });
    return { cloud_id: cloudId, name, certificate: chain };
  }

  #authority(): Issuer {
    const { authority } = this.#tools.connections;
    if (!authority) throw fail('no_certificate_authority');
    return authority;
  }

  #addressFor(given: string | undefined): string {
    const { host, port } = this.#tools.place;
    const place = given === undefined ? { host, port } : parseHostAndPort(given, port);
    if (!place) throw badParameter('portal', 'must be an address, or address:port');
    return placeOf(place.host, place.port);
  }

  #usedMeanwhile({ id }: JoinCode): GranaryError {
    const { log, clock } = this.#tools;
    log.warn({ joinCode: id }, 'a join code was used twice at the same time');
    return fail('join_code_used', { time: formatUtc(clock.now()) });
  }

  /** An old code cannot fill the log: attempts are limited. */
  async #recordRefusal({ name, usedAt }: JoinCode, ip: string): Promise<void> {
    const { store, events } = this.#tools;
    const what = usedAt === null ? 'that has expired' : 'that was used before';
    const title = `A join code for cloud ${name} ${what} was given from ${ip} and refused.`;
    await store.write((tx) => events.record(tx, { title, kind: 'cloud', subject: 'clouds', severity: 'warning' }));
  }
}

function refusalOf(joinCode: JoinCode | undefined, now: number): GranaryError | undefined {
  if (!joinCode) return fail('join_code_unknown');
  if (joinCode.usedAt !== null) return fail('join_code_used', { time: formatUtc(joinCode.usedAt) });
  if (joinCode.expiresAt <= now) return fail('join_code_expired', { time: formatUtc(joinCode.expiresAt) });
  return undefined;
}

function placeOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
