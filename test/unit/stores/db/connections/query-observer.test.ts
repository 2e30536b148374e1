import { expect, test } from 'vitest'

import { nameStatement } from '../../../../../src/stores/db/connections/query-observer.ts'

test.for([
  ['select id from stations where id = $1', 'select stations'],
  ['insert into queue (id) values ($1) on conflict do update set id = 1', 'insert queue'],
  ['  update webhooks w set holder = $1', 'update webhooks'],
  ['delete from open_facts f using reset r', 'delete open_facts'],
  ['select id from stations where id = 1 for no key update skip locked', 'select stations'],
  [
    'with pending as materialized (select 1 from webhook_deliveries) select * from pending',
    'select webhook_deliveries'
  ],
  ['with x as (select 1) update webhook_deliveries d set state = 1 from x', 'update webhook_deliveries'],
  ['select extract(epoch from clock_timestamp()), s.id from unnest($1) u join stations s', 'select'],
  ['begin', 'begin'],
  ['', 'other']
])('%s is named %s', ([text = '', name = '']) => {
  expect(nameStatement(text)).toBe(name)
})
