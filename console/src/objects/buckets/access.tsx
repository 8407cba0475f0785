import { Checkbox, Select, Stack, Switch, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Failed } from '../../parts/messages.tsx';
import { Question } from '../../parts/question.tsx';
import {
  ENCRYPTION_DOCUMENT,
  ownershipDocument,
  publicAccessDocument,
  type PublicAccessBlock,
} from '../s3/settings.ts';
import { grantsOf, publicAccessOf, type ListedGrant } from '../s3/settings-read.ts';
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

const SET = 'The access list is set.';

const OWNERSHIPS = [
  { value: '', label: 'of the bucket’s account; access lists hold' },
  { value: 'BucketOwnerEnforced', label: 'of the bucket’s account; there are no access lists' },
  { value: 'BucketOwnerPreferred', label: 'of the writer’s account, unless it hands them over' },
  { value: 'ObjectWriter', label: 'of the writer’s account' },
];

/** Whose objects are, and whom access lists open the bucket to. */
export function AccessList({ bucket }: { readonly bucket: string }) {
  const [asked, setAsked] = useState<string>();
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
      <Setting
        bucket={bucket}
        name="acl"
        read={(root) => (root ? grantsOf(root) : [])}
        write={(s3, list = 'private') => s3.setAccessList(bucket, list)}
      >
        {({ value, save, isBusy, error }) => (
          <>
            <Select
              label="Set the access list anew"
              placeholder="Choose one"
              data={LISTS}
              value={null}
              disabled={isBusy}
              onChange={(list) => {
                if (list === 'private') save(list, SET);
                else if (list !== null) setAsked(list);
              }}
              w={320}
            />
            {asked !== undefined && (
              <Question
                title="Open the bucket to others?"
                act="Open it"
                onAct={() => save(asked, SET)}
                close={() => setAsked(undefined)}
              >
                The access list is set anew: {LISTS.find((one) => one.value === asked)?.label}.
                {asked.startsWith('public') && ' That is anyone who reaches the array, without signing in.'}
              </Question>
            )}
            {error && <Failed error={error} />}
            <Grants grants={value} />
          </>
        )}
      </Setting>
    </Stack>
  );
}

function Grants({ grants }: { readonly grants: readonly ListedGrant[] }) {
  if (grants.length === 0) return <Text size="sm">Nothing is granted to anyone.</Text>;
  return (
    <div className="table-scroll" tabIndex={0} role="region" aria-label="Grants of the access list">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Granted to</Table.Th>
            <Table.Th>Permission</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {grants.map(({ to, permission }, index) => (
            <Table.Tr key={index}>
              <Table.Td>{to}</Table.Td>
              <Table.Td>{permission}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}
