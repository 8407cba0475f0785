import type { JobOutcome, RunningJob, Tx } from '@granary/kernel';
import type { ArrayId } from '../../ids.ts';
import type { CloudService } from '../../clouds/service.ts';
import type { Tools } from '../../tools.ts';
import type { PortalArray } from '../array.ts';
import { Hosting, isTroubleOfCloud, NotYet, POLL_MS, withDrivesOf } from '../hosting.ts';
import { ArrayRefusal, isUnreachable } from '../objects-connection.ts';
import type { ArrayStates } from '../states.ts';
import type { Opened, ServiceAccounts } from './accounts.ts';
import { placeOf } from './place.ts';
import type { PublicService, ServicePlace } from './public-service.ts';
import * as repository from './repository.ts';

const OPEN = 'public_service.open';
const CHANGE = 'public_service.change';
const CLOSE = 'public_service.close';
const PUT_BACK = 'public_service.put_back';
const RETRY_MS = 2_000;
/** How long an array that does not answer is waited for before things are as they were. */
const GIVE_UP_MS = 10 * 60_000;
const OLD_CLOUD = 'Its cloud is of an earlier release and serves at no other address; upgrade the cloud.';

interface Work {
  readonly arrayId: ArrayId;
}

/** What is undefined stays. */
export interface ServiceChange {
  readonly ip?: string | undefined;
  readonly host?: string | undefined;
  readonly passwordSealed?: string | undefined;
  readonly autoApprove?: boolean | undefined;
}

interface ChangeWork extends Work {
  readonly change: ServiceChange;
}

interface Parts {
  readonly tools: Tools;
  readonly clouds: CloudService;
  readonly states: ArrayStates;
  readonly accounts: ServiceAccounts;
}

type Act = (service: PublicService, array: PortalArray) => Promise<JobOutcome>;

/**
 * Makes public object services at their arrays, changes them and takes them away: the account with its administrator, and
 * the address they are served at. Each is a job in the queue of the array, because it sends the array's desired state to
 * the cloud. A step that was cut off is done again; a refusal leaves everything as it was.
 */
export class PublicServiceWork {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { jobs } = parts.tools;
    jobs.register<Work, Opened>(
      OPEN,
      (job) =>
        this.#work(
          job,
          'opening',
          (service, array) => this.#open(job, service, array),
          this.#undoOpening(job.arguments, job.checkpoint?.remoteId),
        ),
      (tx, args, reason) => this.#undoOpening(args)(tx, reason),
    );
    jobs.register<ChangeWork>(
      CHANGE,
      (job) =>
        this.#work(
          job,
          'changing',
          (service, array) => this.#change(job, service, array),
          this.#stays(job.arguments, 'changed'),
        ),
      (tx, args, reason) => this.#stays(args, 'changed')(tx, reason),
    );
    jobs.register<Work>(
      CLOSE,
      (job) =>
        this.#work(
          job,
          'closing',
          (service, array) => this.#close(job, service, array),
          this.#stays(job.arguments, 'withdrawn'),
        ),
      (tx, args, reason) => this.#stays(args, 'withdrawn')(tx, reason),
      { frees: true },
    );
    jobs.register<Work>(
      PUT_BACK,
      (job) =>
        this.#work(
          job,
          'open',
          (service, array) => this.#putBack(job, service, array),
          () => undefined,
        ),
      () => undefined,
    );
  }

  /** These return the job. */
  startOpening(tx: Tx, arrayId: ArrayId): number {
    return this.#parts.tools.jobs.enqueue(tx, OPEN, `array:${arrayId}`, { arrayId });
  }

  startChange(tx: Tx, arrayId: ArrayId, change: ServiceChange): number {
    return this.#parts.tools.jobs.enqueue(tx, CHANGE, `array:${arrayId}`, { arrayId, change });
  }

  startClosing(tx: Tx, arrayId: ArrayId): number {
    return this.#parts.tools.jobs.enqueue(tx, CLOSE, `array:${arrayId}`, { arrayId });
  }

  /** The frame of all three: is it still wanted, and what if the array or its cloud does not answer or says no. */
  async #work(
    { arguments: { arrayId }, signal }: RunningJob<Work>,
    state: PublicService['state'],
    act: Act,
    undo: (tx: Tx, reason: string) => void,
  ): Promise<JobOutcome> {
    const { tools, clouds, states } = this.#parts;
    const service = tools.store.read((db) => repository.findPublicService(db, arrayId));
    if (service?.state !== state)
      return { outcome: 'failed', reason: 'The public object service went with its array.' };
    const array = tools.store.read((db) => states.existing(db, arrayId));
    const failed = (reason: string): JobOutcome => ({ outcome: 'failed', reason, finish: (tx) => undo(tx, reason) });
    // What is withdrawn is served no more after the first step: there is no way back. What is put back was there before.
    const isLate = state !== 'closing' && state !== 'open' && tools.clock.now() - service.changedAt > GIVE_UP_MS;
    if (array.status === 'starting' && !isLate) return later(`Array ${array.name} is starting.`);
    if (array.status !== 'created') return failed(`Array ${array.name} is ${array.status}.`);
    try {
      await clouds.claimed(array.cloudId);
      return await act(service, array);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotYet && isLate)
        return failed(`Array ${array.name} does not serve there: ${error.message}.`);
      if (error instanceof NotYet) return { outcome: 'retry', afterMs: POLL_MS, reason: error.message };
      const isPassing = isUnreachable(error) || isTroubleOfCloud(error);
      if (isPassing && !isLate) return later(error.message);
      if (!isPassing && !(error instanceof ArrayRefusal)) throw error;
      return failed(error.message);
    }
  }

  async #open(job: RunningJob<Work, Opened>, service: PublicService, array: PortalArray): Promise<JobOutcome> {
    const { tools, states, accounts } = this.#parts;
    const { accountName: name, username } = service;
    const email = `${username.replaceAll(/[^\w.-]/g, '')}@localhost.localdomain`;
    const password = tools.vault.unseal(service.passwordSealed);
    const remoteId = await accounts.open(job, array, { name, administrator: { username, email, password } });
    const problem = await this.#serve(job.signal, array, placeOf(service));
    if (problem !== undefined) {
      await this.#serve(job.signal, array, null);
      // A run that is cut off here makes the account afresh.
      await job.save(80, 'the account is removed', { remoteId, whole: false });
      await accounts.erase(array, remoteId);
      throw new ArrayRefusal(problem);
    }
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.updatePublicService(tx, array.id, { state: 'open', remoteId, changedAt: tools.clock.now() });
        states.touch(tx, array.id);
        this.#record(tx, array.id, `The public object service of array ${array.name} is open at ${service.host}.`);
      },
    };
  }

  async #change(job: RunningJob<ChangeWork>, service: PublicService, array: PortalArray): Promise<JobOutcome> {
    const { tools, states } = this.#parts;
    const { ip = service.ip, host = service.host, passwordSealed, autoApprove } = job.arguments.change;
    const isMoved = ip !== service.ip || host !== service.host;
    const problem = isMoved ? await this.#serve(job.signal, array, placeOf({ ip, host })) : undefined;
    try {
      if (problem !== undefined) throw new ArrayRefusal(problem);
      if (passwordSealed !== undefined) await this.#changePassword(service, array, passwordSealed);
    } catch (error) {
      if (isMoved && error instanceof ArrayRefusal) await this.#serve(job.signal, array, placeOf(service));
      throw error;
    }
    return {
      outcome: 'done',
      finish: (tx) => {
        const changes = { ip, host, passwordSealed, autoApprove, changedAt: tools.clock.now() };
        repository.updatePublicService(tx, array.id, { ...changes, state: 'open' });
        states.touch(tx, array.id);
        this.#record(tx, array.id, `The public object service of array ${array.name} was changed.`);
      },
    };
  }

  async #changePassword(service: PublicService, array: PortalArray, afterSealed: string): Promise<void> {
    const { tools, accounts } = this.#parts;
    const { accountName: account, username } = service;
    const [before, after] = [tools.vault.unseal(service.passwordSealed), tools.vault.unseal(afterSealed)];
    await accounts.changePassword(array, { account, username }, { before, after });
  }

  async #close(job: RunningJob<Work>, service: PublicService, array: PortalArray): Promise<JobOutcome> {
    const { states, accounts } = this.#parts;
    const problem = await this.#serve(job.signal, array, null);
    if (problem !== undefined) throw new ArrayRefusal(problem);
    if (service.remoteId !== null && !(await accounts.close(array, service.remoteId)))
      return later(`Array ${array.name} removes what the account holds.`);
    return {
      outcome: 'done',
      finish: (tx) => {
        repository.deletePublicService(tx, array.id);
        states.touch(tx, array.id);
        this.#record(tx, array.id, `The public object service of array ${array.name} was withdrawn.`);
      },
    };
  }

  /** A change that failed may have moved it: it is served where its record says again. */
  async #putBack(job: RunningJob<Work>, service: PublicService, array: PortalArray): Promise<JobOutcome> {
    const problem = await this.#serve(job.signal, array, placeOf(service));
    const where = `The public object service of array ${array.name} is`;
    return {
      outcome: 'done',
      finish: (tx) => {
        if (problem === undefined) this.#record(tx, array.id, `${where} served at ${service.ip} as before.`);
        else this.#record(tx, array.id, `${where} not served at ${service.ip}: ${problem}`, 'warning');
      },
    };
  }

  /** Has the array serve there, or nowhere; text when it cannot. */
  async #serve(signal: AbortSignal, array: PortalArray, place: ServicePlace | null): Promise<string | undefined> {
    const { tools, clouds } = this.#parts;
    const hosting = new Hosting(clouds.link(array.cloudId), array, tools);
    const sent = await hosting.put(withDrivesOf(await hosting.get(), array.spec), { service: place });
    if (typeof sent === 'string') return sent;
    if (sent.public_service === undefined) return place === null ? undefined : OLD_CLOUD;
    if (place === null) return undefined;
    const hosted = await hosting.until(signal, ({ public_service: served }) => {
      return !served || served.bound || served.problem !== null;
    });
    return hosted?.public_service?.problem ?? undefined;
  }

  /** An account that was made is removed like that of a service that is withdrawn. */
  #undoOpening({ arrayId }: Work, remoteId?: string): (tx: Tx, reason: string) => void {
    return (tx, reason) => {
      const { states, tools } = this.#parts;
      const array = states.existing(tx, arrayId);
      if (remoteId === undefined) repository.deletePublicService(tx, arrayId);
      else {
        repository.updatePublicService(tx, arrayId, { state: 'closing', remoteId, changedAt: tools.clock.now() });
        this.startClosing(tx, arrayId);
      }
      states.touch(tx, arrayId);
      const title = `The public object service of array ${array.name} was not opened: ${reason}`;
      this.#record(tx, arrayId, title, 'warning');
    };
  }

  /** Its record stays as it was; where the array may serve elsewhere by now, it is put back. */
  #stays(
    { arrayId, change }: Work & Partial<ChangeWork>,
    what: 'changed' | 'withdrawn',
  ): (tx: Tx, reason: string) => void {
    return (tx, reason) => {
      const { tools, states } = this.#parts;
      const { name } = states.existing(tx, arrayId);
      const { ip, host } = change ?? {};
      const isMoved = what === 'withdrawn' || ip !== undefined || host !== undefined;
      repository.updatePublicService(tx, arrayId, { state: 'open', changedAt: tools.clock.now() });
      if (isMoved) tools.jobs.enqueue(tx, PUT_BACK, `array:${arrayId}`, { arrayId });
      states.touch(tx, arrayId);
      this.#record(tx, arrayId, `The public object service of array ${name} was not ${what}: ${reason}`, 'warning');
    };
  }

  #record(tx: Tx, arrayId: ArrayId, title: string, severity: 'notice' | 'warning' = 'notice'): void {
    this.#parts.tools.events.record(tx, { title, subject: `array:${arrayId}`, severity });
  }
}

function later(reason: string): JobOutcome {
  return { outcome: 'retry', afterMs: RETRY_MS, reason };
}
