import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownAddress } from './shown-address.ts';

test('an operator sees where a webhook goes, and nothing that lets others post there', () => {
  for (const [url, shown] of [
    ['https://hooks.example.org/granary', 'https://hooks.example.org/granary'],
    [
      'http://10.0.0.7:8080/on-call/storage-of-the-second-floor',
      'http://10.0.0.7:8080/on-call/storage-of-the-second-floor',
    ],
    ['https://hooks.example.org/post?token=abc&channel=7', 'https://hooks.example.org/post?…'],
    ['https://user:secret@hooks.example.org/post#part', 'https://hooks.example.org/post'],
    [
      'https://chat.example.org/services/T01/B02/aB3dE5gH7jK9mN1pQ3sT5vW7',
      'https://chat.example.org/services/T01/B02/…',
    ],
    ['https://chat.example.org/hooks/5c6f2a9e-1b1f-4d5e-9d8a-0a1b2c3d4e5f', 'https://chat.example.org/hooks/…'],
  ] as const)
    assert.equal(shownAddress(url), shown);
});

test('tokens of other shapes are not shown either: with a colon, encoded, of letters only, of digits only', () => {
  for (const [url, shown] of [
    [
      'https://chat.example.org/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/send',
      'https://chat.example.org/…/send',
    ],
    ['https://chat.example.org/hooks/aB3dE5gH7jK9mN1p%2Bs3T=', 'https://chat.example.org/hooks/…'],
    ['https://chat.example.org/hooks/qWeRtYuIoPaSdFgHjKlZ', 'https://chat.example.org/hooks/…'],
    ['https://chat.example.org/hooks/qwertyuiopasdfghjklzxcvb', 'https://chat.example.org/hooks/…'],
    ['https://chat.example.org/hooks/90417753120984417753', 'https://chat.example.org/hooks/…'],
    ['https://chat.example.org/send;token=s3cr3t-of-ours', 'https://chat.example.org/…'],
    ['https://hooks.example.org/Storage_Alerts.Second-Floor', 'https://hooks.example.org/Storage_Alerts.Second-Floor'],
    ['https://hooks.example.org/messages-of-room-2', 'https://hooks.example.org/messages-of-room-2'],
  ] as const)
    assert.equal(shownAddress(url), shown);
});
