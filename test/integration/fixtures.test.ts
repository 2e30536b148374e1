import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'

for (const round of [1, 2]) {
  test(`each test has a migrated database of its own (${round})`, async ({ sql }) => {
    const [row] = await sql<{ count: number }[]>`select count(*) from migrations`
    expect(row?.count).toBeGreaterThan(0)
    await sql`create table left_behind ()`
  })

  test(`each test starts with an empty Redis (${round})`, async ({ redis }) => {
    expect(await redis.dbsize()).toBe(0)
    await redis.set('left', 'behind')
  })
}
