import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../limits.ts';
import { ProtocolError } from '../pdu/receiver.ts';
import type { ChapSecrets } from './chap.ts';
import { LoginExchange, type Admission, type Doorkeeper } from './exchange.ts';
import { LoginRefused, LoginStatus } from './status.ts';
import { decodeText, encodeText } from './text.ts';

const TARGET = 'iqn.2026-01.com.example:disk';
const NAMES: [string, string][] = [
  ['InitiatorName', 'iqn.2026-01.com.example:host'],
  ['TargetName', TARGET],
];

function doorkeeper(admission: Admission | undefined = {}): Doorkeeper {
  return {
    limits: DEFAULT_LIMITS,
    admitTo: (name) => (name === TARGET ? admission : undefined),
    admitToDiscovery: () => admission,
  };
}

function request(flags: number, change: (header: Buffer) => void = () => undefined): Buffer {
  const header = Buffer.alloc(48);
  header[0] = 0x43;
  header[1] = flags;
  header.write('400000370000', 8, 'hex');
  header.writeUInt32BE(7, 16);
  header.writeUInt32BE(100, 24);
  change(header);
  return header;
}

const SECURITY_TO_OPERATIONAL = 0x81;
const SECURITY_TO_FULL = 0x83;
const OPERATIONAL_TO_FULL = 0x87;
const CONTINUED = 0x40;

function refusal(status: number) {
  return (error: unknown) => error instanceof LoginRefused && error.status === status;
}

test('a login through both stages ends with what was agreed', () => {
  const exchange = new LoginExchange(doorkeeper({ alias: 'disk' }));
  const first = exchange.handle(request(SECURITY_TO_OPERATIONAL), encodeText([...NAMES, ['AuthMethod', 'CHAP,None']]));
  assert.equal(first.flags, SECURITY_TO_OPERATIONAL);
  const said = decodeText(first.text);
  assert.equal(said.get('AuthMethod'), 'None');
  assert.equal(said.get('TargetPortalGroupTag'), '1');
  assert.equal(said.get('TargetAlias'), 'disk');
  const second = exchange.handle(
    request(OPERATIONAL_TO_FULL),
    encodeText([
      ['HeaderDigest', 'CRC32C,None'],
      ['FirstBurstLength', '65536'],
      ['MaxBurstLength', '4096'],
    ]),
  );
  assert.equal(second.flags, OPERATIONAL_TO_FULL);
  assert.equal(decodeText(second.text).get('MaxRecvDataSegmentLength'), String(DEFAULT_LIMITS.dataSegmentBytesMax));
  const { result } = second;
  assert.equal(result?.targetName, TARGET);
  assert.equal(result.isid, '400000370000');
  assert.equal(result.commandNumber, 100);
  assert.equal(result.parameters.headerDigest, true);
  assert.equal(decodeText(second.text).get('FirstBurstLength'), '4096', 'a first burst is never longer than a burst');
  assert.equal(result.parameters.firstBurstBytes, 4096);
});

test('each stage may be left out when no secret is set', () => {
  assert.ok(new LoginExchange(doorkeeper()).handle(request(OPERATIONAL_TO_FULL), encodeText(NAMES)).result);
  assert.ok(new LoginExchange(doorkeeper()).handle(request(SECURITY_TO_FULL), encodeText(NAMES)).result);
});

test('text may come in pieces', () => {
  const exchange = new LoginExchange(doorkeeper());
  const text = encodeText(NAMES);
  const first = exchange.handle(request(CONTINUED | 0x04), text.subarray(0, 20));
  assert.deepEqual([first.flags, first.text.length], [0x04, 0]);
  assert.ok(exchange.handle(request(OPERATIONAL_TO_FULL), text.subarray(20)).result);
});

test('where a secret is set, login without it is refused', () => {
  const chap = { user: 'alice', secret: 'twelve bytes!' };
  const attempts: (() => unknown)[] = [
    () => new LoginExchange(doorkeeper({ chap })).handle(request(OPERATIONAL_TO_FULL), encodeText(NAMES)),
    () => new LoginExchange(doorkeeper({ chap })).handle(request(SECURITY_TO_FULL), encodeText(NAMES)),
    () =>
      new LoginExchange(doorkeeper({ chap })).handle(
        request(SECURITY_TO_FULL),
        encodeText([...NAMES, ['AuthMethod', 'None']]),
      ),
  ];
  for (const attempt of attempts) assert.throws(attempt, refusal(LoginStatus.authenticationFailure));
  const exchange = new LoginExchange(doorkeeper({ chap }));
  const reply = exchange.handle(request(SECURITY_TO_OPERATIONAL), encodeText([...NAMES, ['AuthMethod', 'CHAP']]));
  assert.equal(reply.flags, 0, 'the stage is not left before the proof');
  assert.throws(
    () => exchange.handle(request(SECURITY_TO_OPERATIONAL), encodeText([['CHAP_N', 'alice']])),
    refusal(LoginStatus.authenticationFailure),
  );
});

test('a target that is not there and one that is not for the initiator look the same', () => {
  const closed = new LoginExchange({ ...doorkeeper(), admitTo: () => undefined });
  assert.throws(() => closed.handle(request(OPERATIONAL_TO_FULL), encodeText(NAMES)), refusal(LoginStatus.notFound));
  const discovery = new LoginExchange({ ...doorkeeper(), admitToDiscovery: () => undefined });
  const text = encodeText([NAMES[0]!, ['SessionType', 'Discovery']]);
  assert.throws(() => discovery.handle(request(OPERATIONAL_TO_FULL), text), refusal(LoginStatus.notFound));
});

test('what a login cannot do without is asked for', () => {
  const login = (pairs: [string, string][], change?: (header: Buffer) => void) => () =>
    new LoginExchange(doorkeeper()).handle(request(OPERATIONAL_TO_FULL, change), encodeText(pairs));
  assert.throws(login([]), refusal(LoginStatus.missingParameter));
  assert.throws(login([NAMES[0]!]), refusal(LoginStatus.missingParameter));
  assert.throws(login([['InitiatorName', 'host'], NAMES[1]!]), refusal(LoginStatus.initiatorError));
  assert.throws(login([...NAMES, ['SessionType', 'Odd']]), refusal(LoginStatus.sessionTypeNotSupported));
  assert.throws(
    login(NAMES, (header) => (header[3] = 1)),
    refusal(LoginStatus.unsupportedVersion),
  );
  assert.throws(
    login(NAMES, (header) => header.writeUInt16BE(5, 14)),
    refusal(LoginStatus.sessionDoesNotExist),
  );
});

test('stages cannot be entered backwards and keys not be settled twice', () => {
  const exchange = new LoginExchange(doorkeeper());
  exchange.handle(request(0x04), encodeText([...NAMES, ['InitialR2T', 'No']]));
  assert.throws(
    () => exchange.handle(request(0x04), encodeText([['InitialR2T', 'Yes']])),
    refusal(LoginStatus.initiatorError),
  );
  assert.throws(() => exchange.handle(request(SECURITY_TO_FULL), encodeText([])), refusal(LoginStatus.initiatorError));
});

test('a login that never ends is ended', () => {
  const exchange = new LoginExchange(doorkeeper());
  assert.throws(() => {
    for (let turn = 0; turn < 1000; turn++) exchange.handle(request(CONTINUED | 0x04), Buffer.from('A=1\0'));
  }, ProtocolError);
  const flood = new LoginExchange(doorkeeper());
  assert.throws(() => {
    for (let turn = 0; turn < 30; turn++) flood.handle(request(CONTINUED | 0x04), Buffer.alloc(8192, 65));
  }, ProtocolError);
});

const CHAP = { user: 'alice', secret: 'twelve bytes!' };
const DISCOVERY: [string, string][] = [NAMES[0]!, ['SessionType', 'Discovery']];

function begin(flags: number, pairs: [string, string][], chap?: ChapSecrets, names = NAMES) {
  const exchange = new LoginExchange(doorkeeper(chap && { chap }));
  return { exchange, reply: exchange.handle(request(flags), encodeText([...names, ...pairs])) };
}

test('a list of methods is answered with the first one that both sides can', () => {
  const optional = { ...CHAP, isOptional: true };
  const cases: [offer: string, chap: ChapSecrets | undefined, answer: string | undefined][] = [
    ['CHAP,None', undefined, 'None'],
    ['CHAP,None', optional, 'CHAP'],
    ['CHAP,None', CHAP, 'CHAP'],
    ['None,CHAP', undefined, 'None'],
    ['None,CHAP', optional, 'None'],
    ['None,CHAP', CHAP, 'CHAP'],
    ['KRB5,SRP,CHAP,None', optional, 'CHAP'],
    ['KRB5,SRP', undefined, undefined],
    ['CHAP', undefined, undefined],
    ['CHAP', optional, 'CHAP'],
    ['CHAP', CHAP, 'CHAP'],
    ['None', undefined, 'None'],
    ['None', optional, 'None'],
    ['None', CHAP, undefined],
    ['chap,none', CHAP, undefined],
  ];
  for (const names of [NAMES, DISCOVERY]) {
    for (const [offer, chap, answer] of cases) {
      const login = () => begin(SECURITY_TO_FULL, [['AuthMethod', offer]], chap, names).reply;
      if (answer === undefined) {
        assert.throws(login, refusal(LoginStatus.authenticationFailure), offer);
        continue;
      }
      const reply = login();
      assert.equal(decodeText(reply.text).get('AuthMethod'), answer, offer);
      assert.equal(reply.result !== undefined, answer === 'None', offer);
    }
  }
});

test('an initiator that offers no method is admitted only where none is required', () => {
  for (const flags of [OPERATIONAL_TO_FULL, SECURITY_TO_FULL]) {
    assert.ok(begin(flags, [], { ...CHAP, isOptional: true }).reply.result);
    assert.throws(() => begin(flags, [], CHAP), refusal(LoginStatus.authenticationFailure));
    assert.throws(() => begin(flags, [], CHAP, DISCOVERY), refusal(LoginStatus.authenticationFailure));
  }
});

test('once CHAP was chosen the login cannot do without, not even where the secret is optional', () => {
  const evasions: [flags: number, pairs: [string, string][]][] = [
    [SECURITY_TO_FULL, []],
    [SECURITY_TO_FULL, [['AuthMethod', 'None']]],
    [SECURITY_TO_OPERATIONAL, [['CHAP_N', 'alice']]],
    [OPERATIONAL_TO_FULL, []],
  ];
  for (const [flags, pairs] of evasions) {
    const { exchange } = begin(0, [['AuthMethod', 'CHAP,None']], { ...CHAP, isOptional: true });
    assert.throws(() => exchange.handle(request(flags), encodeText(pairs)), LoginRefused);
    const asked = begin(0, [['AuthMethod', 'CHAP,None']], { ...CHAP, isOptional: true }).exchange;
    asked.handle(request(0), encodeText([['CHAP_A', '5']]));
    assert.throws(() => asked.handle(request(flags), encodeText(pairs)), LoginRefused);
  }
});

test('names may be repeated if they are the same', () => {
  const { exchange } = begin(SECURITY_TO_OPERATIONAL, [['AuthMethod', 'None']]);
  assert.ok(exchange.handle(request(OPERATIONAL_TO_FULL), encodeText(NAMES)).result);
  for (const [key] of NAMES) {
    const other = begin(SECURITY_TO_OPERATIONAL, [['AuthMethod', 'None']]).exchange;
    assert.throws(
      () => other.handle(request(OPERATIONAL_TO_FULL), encodeText([[key, 'iqn.2026-01.com.example:other']])),
      refusal(LoginStatus.initiatorError),
    );
  }
});
