import { messagesOf } from './families.ts';

/** What the portal and its clouds refuse, by family. */
export const portalRefusals = {
  ...messagesOf('cloud_full', {
    cloud_arrays_limit: 'This cloud hosts at most {max} arrays, as its operator set.',
    array_drives_minimum: 'An array keeps at least {minimum} drives.',
    no_zone_fits: 'No single zone has enough free drives of every type; order fewer, or other types.',
  }),
  ...messagesOf('not_supported', {
    cloud_not_joined: 'This cloud has not joined by a code.',
    not_object_storage: 'Array {name} is not an object storage array.',
    not_block_storage: 'Array {name} is not a block and file array.',
    undelete_too_late: 'Array {name} is gone for good: its time to be undeleted is over.',
    purged_already: 'Array {name} was purged already.',
    proxies_limit: 'Array {name} has {max} proxy controllers; that is the most.',
    lifecycle_not_offered: 'The cloud of array {name} does not offer file lifecycle.',
    reduction_needs_flash: 'Array {name} has spinning drives; data reduction is for flash arrays only.',
    array_never_placed: 'Array {name} was never placed; delete it and order it again.',
    joining_needs_tls:
      'This portal serves plain HTTP, and a cloud that joins sends its key; start the portal with TLS.',
    join_codes_limit: '{max} join codes wait to be used; let some of them expire.',
    no_certificate_authority: 'This portal has no certificate authority.',
    list_price_invalid:
      'The cloud\'s price for {item} is "{price}", not a decimal of USD an hour; mend it there and sync again.',
  }),
  ...messagesOf('join_refused', {
    join_code_used: 'This join code was used at {time}. Make another one with `granary clouds join-code`.',
    join_code_unknown: 'This is not a join code of this portal. Make another one with `granary clouds join-code`.',
    join_code_expired: 'This join code expired at {time}. Make another one with `granary clouds join-code`.',
  }),
  ...messagesOf('price_file', {
    price_file_empty: 'The file holds no prices.',
    price_file_too_long: 'The file has more than {max} rows.',
    price_file_row: 'Row {row}: {problem}. No price was changed.',
    price_file_encoding: 'The file is not UTF-8 text.',
    price_file_json: 'The file is not valid JSON.',
    price_file_list: 'A JSON price file must be a list of objects.',
  }),
  ...messagesOf('state_conflict', {
    cannot_disable_yourself: 'You cannot disable yourself; ask another administrator.',
    totp_is_on: 'Two-factor sign-in of {username} is on already; switch it off first.',
    totp_is_off: 'Two-factor sign-in of {username} is off.',
    totp_is_yours: 'Switch two-factor sign-in of your own off with a code: `granary me remove-totp`, DELETE /me/totp.',
    totp_not_started: 'There is no secret to confirm; start with POST /me/totp.',
  }),
  ...messagesOf('limit_reached', {
    webhooks_limit: 'There are at most {max} webhooks; delete one first.',
    networks_of_user_limit:
      'A user may have {max} virtual networks at a cloud; delete some, or ask an administrator for more.',
  }),
};
