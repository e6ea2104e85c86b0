import { describe, expect, it } from 'vitest';
import { readSubject, titlesOf, writeSubject } from './subject';

describe('the subject of the charts', () => {
  it('reads back what it wrote', () => {
    expect(readSubject(writeSubject('type', 'order.paid'))).toEqual({ kind: 'type', name: 'order.paid' });
    expect(readSubject(writeSubject('sink', 'a:b'))).toEqual({ kind: 'sink', name: 'a:b' });
  });

  it('is everything where the address says nothing that is known', () => {
    for (const text of ['', 'handler', 'handler:', 'planet:mars', ':mars']) {
      expect(readSubject(text)).toEqual({ kind: 'all' });
    }
  });

  it('names what is counted', () => {
    expect(titlesOf({ kind: 'handler', name: 'crm.sync' }).throughput).toBe('Runs of crm.sync, per minute');
  });
});
