import { Checkbox, Group, Select, Stack, Switch, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Failed, Loading } from '../../parts/messages.tsx';
import {
  ENCRYPTION_DOCUMENT,
  ownershipDocument,
  publicAccessDocument,
  type PublicAccessBlock,
} from '../s3/settings.ts';
import { grantsOf, publicAccessOf } from '../s3/settings-read.ts';
import { readXml } from '../s3/replies.ts';
import { s3Key, useS3, useS3Act } from '../s3/use.ts';
import { Setting } from './setting.tsx';

const BLOCKS: readonly (readonly [name: keyof PublicAccessBlock, label: string])[] = [
  ['BlockPublicAcls', 'Refuse access lists that open it to everyone'],
  ['IgnorePublicAcls', 'Ignore what access lists that are there already open to everyone'],
  ['BlockPublicPolicy', 'Refuse policies that open it to everyone'],
  ['RestrictPublicBuckets', 'Keep other accounts out while the policy opens it to everyone'],
];

/** Keeps a bucket from being opened to everyone by mistake. */
export function PublicAccess({ bucket }: { readonly bucket: string }) {
  return (
    <Setting bucket={bucket} name="publicAccessBlock" read={publicAccessOf}>
      {({ value, save, isBusy, error }) => (
        <Stack gap="xs">
          {BLOCKS.map(([name, label]) => (
            <Checkbox
              key={name}
              label={label}
              checked={value[name]}
              disabled={isBusy}
              onChange={(event) =>
                save(publicAccessDocument({ ...value, [name]: event.currentTarget.checked }), 'It is saved.')
              }
            />
          ))}
          {error && <Failed error={error} />}
        </Stack>
      )}
    </Setting>
  );
}

/** New objects are encrypted on the drives, whatever the operator chose for the array. */
export function Encryption({ bucket }: { readonly bucket: string }) {
  return (
    <Setting bucket={bucket} name="encryption" read={(root) => root !== undefined}>
      {({ value: isOn, save, isBusy, error }) => (
        <Stack gap="xs">
          <Switch
            label="Encrypt new objects on the drives (AES-256)"
            description="Objects that are there already stay as they are. Where the array encrypts everything, it stays on."
            checked={isOn}
            disabled={isBusy}
            onChange={(event) => save(event.currentTarget.checked ? ENCRYPTION_DOCUMENT : undefined, 'It is saved.')}
          />
          {error && <Failed error={error} />}
        </Stack>
      )}
    </Setting>
  );
}

const LISTS = [
  { value: 'private', label: 'only this account' },
  { value: 'public-read', label: 'everybody may list it' },
  { value: 'public-read-write', label: 'everybody may list it and write to it' },
  { value: 'authenticated-read', label: 'every user of the array may list it' },
];

const OWNERSHIPS = [
  { value: '', label: 'of the bucket’s account; access lists hold' },
  { value: 'BucketOwnerEnforced', label: 'of the bucket’s account; there are no access lists' },
  { value: 'BucketOwnerPreferred', label: 'of the writer’s account, unless it hands them over' },
  { value: 'ObjectWriter', label: 'of the writer’s account' },
];

/** Whose objects are, and whom access lists open the bucket to. */
export function AccessList({ bucket }: { readonly bucket: string }) {
  const s3 = useS3();
  const reading = useQuery({
    queryKey: s3Key(s3, bucket, 'acl'),
    queryFn: async () => grantsOf(readXml((await s3.document(bucket, 'acl')) ?? '<none/>')),
  });
  const setting = useS3Act(bucket, (at, list: string) => at.setAccessList(bucket, list));
  if (reading.isPending) return <Loading />;
  if (reading.isError) return <Failed error={reading.error} retry={() => void reading.refetch()} />;
  return (
    <Stack gap="sm">
      <Setting
        bucket={bucket}
        name="ownershipControls"
        read={(root) => root?.querySelector('ObjectOwnership')?.textContent ?? ''}
      >
        {({ value, save, isBusy, error }) => (
          <>
            <Select
              label="Objects that other accounts write are"
              data={OWNERSHIPS}
              value={value}
              disabled={isBusy}
              onChange={(next) => save(ownershipDocument(next ?? ''), 'It is saved.')}
              allowDeselect={false}
              maw={480}
            />
            {error && <Failed error={error} />}
          </>
        )}
      </Setting>
      <Group align="flex-end">
        <Select
          label="Set the access list anew"
          placeholder="Choose one"
          data={LISTS}
          value={null}
          disabled={setting.isPending}
          onChange={(list) => list && setting.mutate(list)}
          w={320}
        />
      </Group>
      {setting.error && <Failed error={setting.error} />}
      <div className="table-scroll" tabIndex={0} role="region" aria-label="Grants of the access list">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Granted to</Table.Th>
              <Table.Th>Permission</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {reading.data.map(({ to, permission }, index) => (
              <Table.Tr key={index}>
                <Table.Td>{to}</Table.Td>
                <Table.Td>{permission}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {reading.data.length === 0 && <Text size="sm">Nothing is granted to anyone.</Text>}
    </Stack>
  );
}
