import type { ObjectStore } from '@granary/storage/object-store';
import { tempStore } from '../../s3/testing/temp-store.ts';

export interface TestStore extends ObjectStore {
  /** What staging and reading throw from now on, if anything. */
  fault: Error | undefined;
  close(): Promise<void>;
}

/** A real store in a temporary folder, with bytes that can be made to fail. */
export async function openTestStore(): Promise<TestStore> {
  const temporary = await tempStore();
  const real = temporary.store;
  const store: TestStore = {
    fault: undefined,
    close: () => temporary.close(),
    get policies() {
      return real.policies;
    },
    get defaultPolicy() {
      return real.defaultPolicy;
    },
    get canEncrypt() {
      return real.canEncrypt;
    },
    isEncrypted: (version) => real.isEncrypted(version),
    get isEncrypting() {
      return real.isEncrypting;
    },
    commit: real.commit,
    bucket: (account, name) => real.bucket(account, name),
    bucketById: (id) => real.bucketById(id),
    bucketsNamed: (name) => real.bucketsNamed(name),
    buckets: (account, page) => real.buckets(account, page),
    usage: (account) => real.usage(account),
    version: (bucket, key, versionId) => real.version(bucket, key, versionId),
    latest: (bucket, key) => real.latest(bucket, key),
    list: (bucket, query) => real.list(bucket, query),
    listVersions: (bucket, query) => real.listVersions(bucket, query),
    upload: (id) => real.upload(id),
    uploads: (bucket, query) => real.uploads(bucket, query),
    parts: (upload, page) => real.parts(upload, page),
    async stage(policy, body, size, options) {
      if (store.fault) throw store.fault;
      return real.stage(policy, body, size, options);
    },
    read(version, range) {
      if (store.fault) throw store.fault;
      return real.read(version, range);
    },
    async readWhole(version, range) {
      if (store.fault) throw store.fault;
      return real.readWhole(version, range);
    },
  };
  return store;
}
