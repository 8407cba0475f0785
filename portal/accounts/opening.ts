import type { PortalArray } from '../arrays/array.ts';
import { ArrayRefusal } from '../arrays/objects-connection.ts';
import type { NewServiceAccount, OpeningJob, ServiceAccounts } from '../arrays/public-services/accounts.ts';
import { accountExists, type RemoteAccounts } from './remote.ts';

/**
 * Opens an account with its administrator on an array, in steps that a job may repeat: each asks first how things stand,
 * so that portal and array agree in the end wherever either of them is cut off.
 */
export class AccountOpening implements ServiceAccounts {
  readonly #remote: RemoteAccounts;

  constructor(remote: RemoteAccounts) {
    this.#remote = remote;
  }

  /** Returns the account's id on the array. */
  async open(job: OpeningJob, array: PortalArray, account: NewServiceAccount): Promise<string> {
    if (job.checkpoint?.whole) return job.checkpoint.remoteId;
    const { name, administrator } = account;
    await this.#clearLeftover(job, array, name);
    const id = await this.#remote.create(array, name);
    await job.save(30, 'the account is there', { remoteId: id, whole: false });
    try {
      await this.#remote.addAdministrator(array, { id, name }, administrator);
    } catch (error) {
      // Half an account would keep the name taken for the next try.
      if (error instanceof ArrayRefusal) await this.erase(array, id);
      throw error;
    }
    await job.save(80, 'its administrator is there', { remoteId: id, whole: true });
    return id;
  }

  async refuseTaken(array: PortalArray, name: string): Promise<void> {
    if (await this.#remote.find(array, name)) throw accountExists(array, name);
  }

  changePassword(
    array: PortalArray,
    administrator: { readonly account: string; readonly username: string },
    passwords: { readonly before: string; readonly after: string },
  ): Promise<void> {
    return this.#remote.changePassword(array, administrator, passwords);
  }

  close(array: PortalArray, id: string): Promise<boolean> {
    return this.#remote.delete(array, id);
  }

  erase(array: PortalArray, id: string): Promise<void> {
    return this.#remote.erase(array, id);
  }

  /**
   * What a run that was cut off left there goes, and is made afresh. It is known by its id; one that has no user yet
   * may be that of a run that did not get to note the id.
   */
  async #clearLeftover({ checkpoint, attempts }: OpeningJob, array: PortalArray, name: string): Promise<void> {
    const found = await this.#remote.find(array, name);
    if (!found) return;
    const isOurs = found.id === checkpoint?.remoteId || (attempts > 1 && found.users === 0);
    if (!isOurs) throw accountExists(array, name);
    await this.erase(array, found.id);
  }
}
