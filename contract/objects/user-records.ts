import { bool, int, listOf, maybe, nullable, oneOf, record, secretText, shownOnce, str, utc } from '../records.ts';
import { Role } from './roles.ts';

const trueFalse = oneOf('True', 'False');

const StorageUser = record('StorageUser', {
  account_id: str(),
  account_name: str(),
  id: str('32 hex digits'),
  token: nullable(secretText('token', 'Opens the data path over Swift')),
  token_expire_at: nullable(utc()),
  s3_access_key: nullable(str()),
  s3_secret_key: nullable(secretText('S3 secret key')),
  public_url: str('Where the containers of the account are served'),
  roles: listOf(Role),
});

/** As lists and sign-in show a user. */
export const User = record('User', {
  id: int(),
  username: str(),
  email: nullable(str()),
  access_key: nullable(secretText('access key', 'Opens this interface')),
  primary: bool('The first user of the account'),
  admin: bool(),
  locked: bool(),
  roles: listOf(Role),
  display_timezone: str(),
  notify_on_events: bool(),
  permissions: maybe(listOf(str('An operation the user may call; sign-in shows them'))),
  objs_data: record('StorageData', { objs_user: StorageUser }),
});

/** As an account shows its users. */
export const AccountUser = record('AccountUser', {
  account_name: str(),
  account_id: str(),
  update_time: str('Seconds since 1970'),
  create_time: str('Seconds since 1970'),
  name: str(),
  id: str('32 hex digits'),
  enabled: trueFalse,
  init_password_changed: trueFalse,
  role_list: listOf(str('Name of a role')),
  is_system_user: trueFalse,
});

/** As a user is shown alone. */
export const UserDetail = record('UserDetail', {
  ...AccountUser.properties,
  links: record('UserLinks', { self: str() }),
  s3_secret_key: nullable(secretText('S3 secret key')),
  s3_access_key: nullable(str()),
  domain_id: str(),
  project_id: str('The account, as Swift clients name it'),
  password_expires_at: nullable(utc()),
  notify_on_events: bool(),
  notification_severity: int('The least severe event that is mailed, on the syslog scale'),
  primary: bool(),
  email: nullable(str()),
});

export const S3Credentials = record('S3Credentials', {
  access: str(),
  secret: shownOnce('S3 secret key'),
  user_id: str(),
  account_id: str(),
});
