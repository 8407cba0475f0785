import { fail, fingerprint, type Actor, type CredentialSource, type Db } from '@granary/kernel';
import type { Identity } from '../remote-arrays/identity.ts';
import { newAgreement, PairKeys } from '../remote-arrays/pair-keys.ts';
import type { ArrayTools } from '../tools.ts';
import type { ArrayUserService } from '../users/service.ts';
import type { Peer } from './peer.ts';
import { addPeerKey, countPeers, findPeer, findPeerByKey, putPeer, removePeer } from './repository.ts';

/** Another array that calls. */
export interface PeerActor extends Actor {
  readonly role: 'peer';
  readonly uuid: string;
  readonly displayName: string;
  readonly provider: string;
  readonly keys: PairKeys;
}

export type PeerIdentity = Omit<Identity, 'is_encryption_active'>;

export interface PairRequest extends PeerIdentity {
  readonly user: string;
  readonly password: string;
  readonly public_key: string;
}

const PEERS_MAX = 100;
const KEYS_KEPT_MAX = 2 * PEERS_MAX;

interface Neighbours {
  readonly users: ArrayUserService;
  readonly self: () => Identity;
  /** Mirrors of a peer to this array that are not broken. */
  readonly countMirrors: (db: Db, peer: string) => number;
}

/** Arrays that found this one. They are let in by what was agreed on then, and to nothing but what peers may do. */
export class PeerService {
  readonly #tools: ArrayTools;
  readonly #users: ArrayUserService;
  readonly #self: () => Identity;
  readonly #countMirrors: Neighbours['countMirrors'];
  readonly #keys = new Map<string, PairKeys>();

  constructor(tools: ArrayTools, { users, self, countMirrors }: Neighbours) {
    this.#tools = tools;
    this.#users = users;
    this.#self = self;
    this.#countMirrors = countMirrors;
  }

  get self(): Identity {
    return this.#self();
  }

  authenticate({ headers }: CredentialSource): PeerActor | undefined {
    const key = headers['x-access-key'];
    if (typeof key !== 'string') return undefined;
    const mark = fingerprint(key);
    const peer = this.#tools.store.read((db) => findPeerByKey(db, mark));
    if (!peer) return undefined;
    return {
      id: `peer:${peer.uuid}`,
      role: 'peer',
      uuid: peer.uuid,
      displayName: peer.displayName,
      provider: peer.provider,
      keys: this.#keysOf(mark, peer.sealedSecret),
    };
  }

  /** In the name of an administrator of this array. What is agreed on never travels. */
  async pair({ user, password, public_key, ...identity }: PairRequest, ip: string) {
    const { store, vault, clock, events } = this.#tools;
    const signedIn = await this.#users.signIn({ username: user, ip }, password);
    if (signedIn.role !== 'admin') throw fail('not_allowed', { roles: 'the role admin' });
    if (identity.uuid === this.self.uuid) throw fail('same_array');
    const { publicKey, agree } = newAgreement();
    const secret = agree(public_key);
    if (!secret) throw fail('no_agreement_key');
    const mark = fingerprint(new PairKeys(secret).accessKey);
    await store.write((tx) => {
      if (!findPeer(tx, identity.uuid) && countPeers(tx) >= PEERS_MAX) throw fail('peers_limit', { max: PEERS_MAX });
      const now = clock.now();
      putPeer(tx, peerOf(identity, identity.uuid, now));
      addPeerKey(tx, identity.uuid, mark, vault.seal(secret.toString('base64')), now);
      const title = `Array ${identity.display_name} (${identity.name}) may mirror to this one.`;
      events.record(tx, { severity: 'notice', title, subject: `peer:${identity.uuid}`, actor: signedIn.username });
    });
    return { array: this.self, public_key: publicKey };
  }

  async hello(identity: PeerIdentity, actor: PeerActor): Promise<Identity> {
    const { store, clock } = this.#tools;
    const known = store.read((db) => findPeer(db, actor.uuid));
    const isSame =
      known?.name === identity.name &&
      known.displayName === identity.display_name &&
      known.provider === identity.provider &&
      known.softwareVersion === identity.software_version;
    if (!isSame) {
      await store.write((tx) => {
        const now = clock.now();
        if (findPeer(tx, actor.uuid)) putPeer(tx, peerOf(identity, actor.uuid, now));
      });
    }
    return this.self;
  }

  async unpair({ uuid, displayName }: PeerActor): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      const count = this.#countMirrors(tx, uuid);
      if (count > 0) throw fail('peer_has_mirrors', { count });
      removePeer(tx, uuid);
      events.record(tx, {
        title: `Array ${displayName} does not mirror to this one any more.`,
        subject: `peer:${uuid}`,
      });
    });
  }

  #keysOf(mark: string, sealed: string): PairKeys {
    const known = this.#keys.get(mark);
    if (known) return known;
    if (this.#keys.size >= KEYS_KEPT_MAX) this.#keys.clear();
    const keys = new PairKeys(Buffer.from(this.#tools.vault.unseal(sealed), 'base64'));
    this.#keys.set(mark, keys);
    return keys;
  }
}

function peerOf(identity: PeerIdentity, uuid: string, now: number): Peer {
  return {
    uuid,
    name: identity.name,
    displayName: identity.display_name,
    provider: identity.provider,
    softwareVersion: identity.software_version,
    createdAt: now,
    modifiedAt: now,
  };
}
