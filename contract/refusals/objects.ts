import { messagesOf } from './families.ts';

/** What object storage refuses, by family. */
export const objectsRefusals = {
  ...messagesOf('objs_state_conflict', {
    objs_engine_lacks_part: 'The {engine} engine of this array has no {part}.',
    account_not_deleted: 'Account {name} is not deleted; delete it first.',
    account_being_deleted: 'Account {name} is being deleted.',
    account_deleted: 'Account {name} is deleted.',
    system_account: 'Account {name} administers the array and cannot be {what}.',
    unprefixed_grant_taken:
      'Account {account} has its objects at {endpoint} without a prefix already; grant it with own_prefix=YES, or add the endpoint once more.',
    endpoint_replicated_to:
      'The replication of {count containers} leads to {endpoint}; end it first, or use force=YES.',
    objs_no_encryption_password: 'No encryption password is set; set one in the encryption settings.',
    policy_unusable: 'Storage policy {policy} has too few drives to be used.',
    policy_drives_leaving: 'Drives are leaving storage policy {policy} already; try again once they have.',
    policy_lacks_drives: 'Storage policy {policy} has {count drives} of type {type}, not {wanted}.',
    policy_needs_drives: 'Storage policy {policy} needs {needed} drives and would be left with {left}; remove fewer.',
    mtu_of_machine: 'The packet size belongs to the network interfaces of the machine; set it there (ip link set mtu).',
    load_balancer_mode:
      'Controllers answer their clients themselves (dr); there is no load balancer to answer through.',
    own_user: 'You cannot {what} yourself; ask another administrator.',
    primary_user:
      'User {username} is the primary user of {account}; only an administrator of the array may {what} them.',
    one_region: 'The array is in one region, 1; leave region_id out.',
    too_many_proxies: 'The array has {count proxy controllers}; ask for at most that many.',
    proxies_not_taken: 'The cloud did not take them: {reason}',
  }),
  ...messagesOf('objs_limit_reached', {
    accounts_limit: 'An array has at most {max} accounts.',
    grants_limit: '{endpoint} is granted to {max} accounts already; revoke some first.',
    endpoints_limit: 'An array knows at most {max} remote endpoints.',
    requests_limit: 'Too many requests wait for a decision; try again later.',
    users_of_account_limit: 'An account has at most {max} users.',
  }),
  ...messagesOf('password_rules', {
    password_too_short: 'A password has at least {min} characters.',
    password_is_username: 'A password must not be the username.',
    password_too_simple:
      'A password of less than {length} characters has three of these: small letters, capital letters, digits, others.',
    password_unchanged: 'The new password must not be the present one.',
    password_used_before: 'The new password must not be the present one, nor one of the {count} before.',
  }),
};
