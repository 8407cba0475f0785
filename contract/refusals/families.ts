/**
 * Errors that share a code: an endpoint declares the family, and the code and the HTTP status are the family's. What
 * each of them says is in the tables of this folder. `message` stands in the reference for all of them.
 */
export const errorFamilies = {
  bad_parameter: { http: 400, code: 7, message: 'A parameter is not valid: the message names it and what it must be.' },
  cloud_full: { http: 409, code: 20007, message: 'The cloud has no room for this: the message says of what.' },
  not_supported: { http: 409, code: 20008, message: 'This cannot be done with what is there: the message says why.' },
  price_file: { http: 400, code: 20013, message: 'The price file is not valid: the message says where.' },
  metadata_damaged: {
    http: 503,
    code: 20019,
    message: 'The database of the cloud is damaged: the message says what to do.',
  },
  join_refused: {
    http: 403,
    code: 20020,
    message: 'The join code is not valid: the message says why. Make another one with `granary clouds join-code`.',
  },
  state_conflict: {
    http: 409,
    code: 10100,
    message: 'The state of something does not allow this: the message says of what.',
  },
  not_offered: { http: 409, code: 10109, message: 'This array does not offer this: the message says what it does.' },
  capacity_refused: { http: 409, code: 10200, message: 'The capacity does not allow this: the message says which.' },
  limit_reached: { http: 409, code: 10201, message: 'There are as many as there can be: the message says of what.' },
  password_rules: { http: 400, code: 50011, message: 'The password breaks a rule: the message says which.' },
  objs_state_conflict: {
    http: 409,
    code: 50100,
    message: 'The state of something does not allow this: the message says of what.',
  },
  objs_limit_reached: {
    http: 409,
    code: 50200,
    message: 'There are as many as there can be: the message says of what.',
  },
} as const satisfies Readonly<Record<string, { http: number; code: number; message: string }>>;

export type ErrorFamily = keyof typeof errorFamilies;

/** Messages of one family, by names of their own; `{name}` is a fact given where the error is raised, `{count volumes}` a number with its noun. */
export function messagesOf<F extends ErrorFamily, const M extends Readonly<Record<string, string>>>(
  family: F,
  messages: M,
): { readonly [Name in keyof M]: { readonly family: F; readonly message: M[Name] } } {
  const entries = Object.entries(messages).map(([name, message]) => [name, { family, message }] as const);
  return Object.fromEntries(entries) as { [Name in keyof M]: { family: F; message: M[Name] } };
}
