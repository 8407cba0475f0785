import { arrayClient, objectsClient } from '@granary/client';

/** What can be ordered at the portal; the commands of each begin with a word of their own. */
export type Product = 'storage_array' | 'object_storage';

interface SignIn {
  readonly url: string;
  readonly fetch?: typeof fetch;
  readonly account: string;
  readonly user: string;
  readonly password: string;
}

interface ProductWords {
  /** `granary array …` */
  readonly prefix: string;
  /** Variables of the environment that say which array and where. */
  readonly nameVariable: string;
  readonly urlVariable: string;
  readonly keyVariable: string;
  signIn(given: SignIn): Promise<string | null>;
}

export const productWords: Readonly<Record<Product, ProductWords>> = {
  storage_array: {
    prefix: 'array',
    nameVariable: 'GRANARY_ARRAY',
    urlVariable: 'GRANARY_ARRAY_URL',
    keyVariable: 'GRANARY_ACCESS_KEY',
    signIn: async ({ user, password, account: _, ...place }) =>
      (await arrayClient(place).users.login({ user, password })).user.access_key,
  },
  object_storage: {
    prefix: 'objects',
    nameVariable: 'GRANARY_OBJECTS',
    urlVariable: 'GRANARY_OBJECTS_URL',
    keyVariable: 'GRANARY_OBJECTS_KEY',
    signIn: async ({ account, user, password, ...place }) =>
      (await objectsClient(place).users.authenticate({ account, user, password })).user.access_key,
  },
};

/** The account that administers object storage. */
export const SYSTEM_ACCOUNT = 'objs_admin';
