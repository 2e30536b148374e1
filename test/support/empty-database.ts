import { randomBytes } from 'node:crypto'

import { inject } from 'vitest'

import { openSql, type Sql } from '../../src/stores/db/sql.ts'
import type { Opened } from './opened.ts'

/** Creates a database without any tables on the Postgres of the tests. */
export async function openEmptyDatabase(): Promise<Opened<{ readonly url: string; readonly sql: Sql }>> {
  const url = new URL(inject('templateUrl'))
  const name = `cuewire_empty_${randomBytes(6).toString('hex')}`
  url.pathname = '/postgres'
  const server = openSql(url.href, { max: 1, name: 'test' })
  await server`create database ${server(name)} template template0`
  url.pathname = `/${name}`
  const sql = openSql(url.href, { max: 2, name: 'test' })
  const close = async () => {
    await sql.end({ timeout: 1 })
    await server`drop database ${server(name)} with (force)`
    await server.end({ timeout: 1 })
  }
  return { value: { url: url.href, sql }, close }
}
