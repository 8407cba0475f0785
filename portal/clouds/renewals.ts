import { X509Certificate } from 'node:crypto';
import { daysLeft, splitChain, type Issuer } from '@granary/kernel';
import type { Tools } from '../tools.ts';
import type { Cloud } from './cloud.ts';
import { listClouds, updateTrusted } from './repository.ts';
import type { CloudService } from './service.ts';

/** How long the issuer of a joined cloud lasts: one that was removed is not trusted after that. */
export const ISSUER_DAYS = 365;
/** It is renewed every two months, so that a cloud may be out of reach for most of a year. */
const LEFT_DAYS_MIN = 305;
/** With less than this an event asks the operator to look. */
const LEFT_DAYS_ALARMING = 60;
const CHECK_EVERY_MS = 3600_000;

/** Renews the certificates of the issuers of joined clouds, over the portal's connection to them. */
export class IssuerRenewals {
  readonly #tools: Tools;
  readonly #clouds: CloudService;
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  readonly #alarmed = new Set<number>();

  constructor(tools: Tools, clouds: CloudService) {
    this.#tools = tools;
    this.#clouds = clouds;
  }

  start(): void {
    this.#work = this.renewDue();
    this.#timer = setInterval(() => {
      this.#work = this.renewDue();
    }, CHECK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#work;
  }

  async renewDue(): Promise<void> {
    const { store, connections, clock, log } = this.#tools;
    const { authority } = connections;
    if (!authority) return;
    const clouds = store.read((db) => listClouds(db, false, { start: 0, limit: 0 }));
    for (const cloud of clouds) {
      const next = nextIssuer(cloud, authority, clock.now());
      if (next === undefined) continue;
      try {
        await this.#renew(cloud, next);
        log.info({ cloud: cloud.name }, 'the certificate of a cloud was renewed');
      } catch (error) {
        log.warn({ error, cloud: cloud.name }, 'the certificate of a cloud could not be renewed; it is tried again');
        await this.#alarm(cloud).catch(() => undefined);
      }
    }
  }

  /**
   * The key and the name stay, so a server that shows the new certificate is trusted by the old one, and the other way
   * round: it does not matter if this ends half way.
   */
  async #renew({ id, trusted }: Cloud, chain: string): Promise<void> {
    await this.#clouds.claimed(id);
    await this.#clouds.link(id).portal.renewCertificate({ certificate: chain });
    await this.#tools.store.write((tx) => updateTrusted(tx, id, trusted, splitChain(chain)[0] as string));
    this.#alarmed.delete(id);
  }

  async #alarm({ id, name, trusted }: Cloud): Promise<void> {
    const { store, events, clock } = this.#tools;
    const left = Math.floor(daysLeft(trusted as string, clock.now()));
    if (left >= LEFT_DAYS_ALARMING || this.#alarmed.has(id)) return;
    this.#alarmed.add(id);
    const how = 'bring it back into reach, or let it join again (`granary clouds join-code`)';
    const title = `The certificate of cloud ${name} ends in ${left} days and could not be renewed; ${how}.`;
    await store.write((tx) => events.record(tx, { title, subject: `cloud:${id}`, severity: 'error' }));
  }
}

/** What is due for a cloud: undefined for one that our authority did not sign, or where another would last no longer. */
function nextIssuer({ trusted }: Cloud, authority: Issuer, now: number): string | undefined {
  if (trusted === null || daysLeft(trusted, now) >= LEFT_DAYS_MIN) return undefined;
  const certificate = new X509Certificate(trusted);
  const isOurs = certificate.ca && certificate.verify(new X509Certificate(authority.certificate).publicKey);
  if (!isOurs || trusted === authority.certificate) return undefined;
  const next = authority.issueIssuer(certificate.publicKey, now, ISSUER_DAYS);
  return daysLeft(next, now) > daysLeft(trusted, now) ? next : undefined;
}
