import { describe, expect, test } from 'vitest';
import { addressDefect } from '../../../../src/sandbox/service/addresses.ts';

describe('an address', () => {
  /** The first and the last address of each block of RFC 6890, tables 1 to 27, but for those of documentation. */
  test.each([
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.0.8', '192.0.0.8'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['240.0.0.0', '255.255.255.255'],
    ['::', '::1'],
    ['::ffff:0.0.0.0', '::ffff:255.255.255.255'],
    ['64:ff9b::', '64:ff9b::ffff:ffff'],
    ['100::', '100::ffff:ffff:ffff:ffff'],
    ['100::1', '100::1'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001::1', '2001::1'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2002::1', '2002::1'],
    ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('from %s to %s is reserved', (first, last) => {
    expect([addressDefect(first), addressDefect(last)]).toEqual(['reserved', 'reserved']);
  });

  test.each(['224.0.0.1', '239.255.255.255', 'ff02::1'])(
    '%s is reserved: it is of a group (RFC 5771, RFC 4291)',
    (address) => {
      expect(addressDefect(address)).toBe('reserved');
    },
  );

  test.each([
    '1.0.0.0',
    '8.8.8.8',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.88.98.255',
    '192.88.100.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '64:ff9a::1',
    '64:ff9b:1::1',
    '100:0:0:1::',
    '2001:200::1',
    '2003::1',
    '2606:4700::1111',
    'fbff::1',
  ])('%s belongs to somebody', (address) => {
    expect(addressDefect(address)).toBeNull();
  });

  test.each(['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::7'])(
    '%s counts as one that belongs to somebody: made-up payments have no others',
    (address) => {
      expect(addressDefect(address)).toBeNull();
    },
  );
});
