import type { Api } from '@granary/contract';
import type { Target } from '../derived/commands.ts';
import type { Terminal } from '../terminal.ts';
import { arrayConnection } from './place.ts';
import { productWords, type Product } from './product.ts';

/** The interface of one array, found by name, by address, or as the one signed in to last. */
export function targetOf(product: Product, api: Api, { env }: Terminal): Target {
  const { prefix, nameVariable, urlVariable } = productWords[product];
  return {
    api,
    prefix,
    places: [
      ['--array <name>', `Name of the array (also ${nameVariable}; default: the one signed in to last)`],
      ['--url <url>', `Address of the array (also ${urlVariable})`],
    ],
    connect: ({ access }, options) =>
      arrayConnection(product, env, { ...options, signedIn: access.roles !== 'anyone' }),
  };
}
