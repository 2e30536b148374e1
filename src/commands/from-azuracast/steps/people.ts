import { safeParse } from 'valibot'

import { globalPermissions, stationPermissions } from '../../../api/auth/access.ts'
import { apiKeyIdentifierPattern } from '../../../api/auth/key-checker.ts'
import { isVerifiablePasswordHash } from '../../../api/auth/passwords.ts'
import { emailField } from '../../../api/people/people.ts'
import { toFieldErrors } from '../../../model/fields/validators.ts'
import { cleanLine } from '../../../model/songs/song.ts'
import type { Dialect } from '../../../model/station/dialect.ts'
import type { Tx } from '../../../stores/db/sql.ts'
import { insertRows } from '../insert-rows.ts'
import {
  type AzuracastMigration,
  readStepProgress,
  readSourceRows,
  migrateSourceTable
} from '../migration.ts'
import { readUsableTime } from '../usable-values.ts'

/** Takes roles with their permissions, users with their passwords and roles, and API keys. */
export async function migratePeople(migration: AzuracastMigration): Promise<void> {
  await migrateRoles(migration)
  await migrateUsers(migration)
  await migrateApiKeys(migration)
}

interface Grants {
  readonly permissions: string[]
  readonly stationPermissions: Record<string, string[]>
}

async function migrateRoles(migration: AzuracastMigration): Promise<void> {
  const { ids, report, sql } = migration
  const grants = await readGrants(migration)
  const [own] = await sql<{ id: number; name: string }[]>`
    select id, name from roles where builtin = 'administrator'`
  const administrators = [...grants].filter(([, { permissions }]) => permissions.includes(allPermissions))
  // AzuraCast creates its role of administrators first.
  const administratorId = Math.min(...administrators.map(([roleId]) => roleId))
  await migrateSourceTable(migration, {
    table: 'role',
    kind: 'role',
    title: 'roles',
    convert(row, read, sourceId) {
      const name = cleanLine(read.text(row, 'name') ?? '', 100) || `Role ${sourceId}`
      const builtin = sourceId === administratorId ? own : undefined
      if (builtin && builtin.name !== name)
        report.leave('names of the role with all permissions', `${name} is the role ${builtin.name}`)
      return { sourceId, name, builtinId: builtin?.id ?? null }
    },
    async write(tx, all) {
      for (const { sourceId, builtinId } of all)
        if (builtinId !== null && builtinId !== sourceId) await ids.equate(tx, 'role', sourceId, builtinId)
      const roles = all.filter(({ builtinId }) => builtinId === null)
      const newIds = await ids.assign(
        tx,
        'role',
        roles.map(({ sourceId }) => ({ id: sourceId }))
      )
      for (const [index, { sourceId, name }] of roles.entries()) {
        const { permissions = [], stationPermissions: byStation = {} } = grants.get(sourceId) ?? {}
        const row = { id: newIds[index], permissions, station_permissions: byStation }
        await insertRows(tx, 'roles', [{ ...row, name: await findFreeRoleName(tx, name) }])
      }
    }
  })
}

const allPermissions = 'administer all'

async function findFreeRoleName(tx: Tx, name: string): Promise<string> {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name} (AzuraCast${number === 2 ? '' : ` ${number - 1}`})`
    const [taken] = await tx`select from roles where name = ${free}`
    if (!taken) return free
  }
}

/** Reads what each role permits, with the ids of stations here. */
async function readGrants(migration: AzuracastMigration): Promise<Map<number, Grants>> {
  const { stations, report } = migration
  const grants = new Map<number, Grants>()
  for await (const { row, read } of readSourceRows(migration, 'role_permissions')) {
    const roleId = read.number(row, 'role_id')
    const action = read.text(row, 'action_name') ?? ''
    const sourceStation = read.text(row, 'station_id')
    const grant = grants.get(roleId) ?? { permissions: [], stationPermissions: {} }
    grants.set(roleId, grant)
    const known: readonly string[] = sourceStation === null ? globalPermissions : stationPermissions
    if (!known.includes(action)) {
      report.leave('permissions of roles that Cuewire does not have', `role ${roleId}: ${action}`)
      continue
    }
    if (sourceStation === null) grant.permissions.push(action)
    else {
      const station = stations.get(Number(sourceStation))
      if (station) (grant.stationPermissions[station.id] ??= []).push(action)
    }
  }
  return grants
}

async function migrateUsers(migration: AzuracastMigration): Promise<void> {
  const { ids, report, sql } = migration
  const { lastId } = await readStepProgress(migration, 'users')
  const emails = await sql<{ email: string }[]>`select lower(email) as email from users`
  const known = new Set(emails.map(({ email }) => email))
  const userRoles = await readUserRoles(migration)
  await migrateSourceTable(migration, {
    table: 'users',
    kind: 'user',
    title: 'users',
    async convert(row, read, sourceId) {
      const email = (read.text(row, 'email') ?? '').trim()
      const hash = read.text(row, 'auth_password') ?? ''
      const isNew = sourceId > lastId
      const onProblem = (problem: string) =>
        report.leave(
          'users or values of them that are not accepted',
          `${email || `user ${sourceId}`}: ${problem}`
        )
      const [emailProblem] = toFieldErrors(safeParse(emailField.input, email).issues ?? [], 'email')
      if (emailProblem) {
        onProblem(emailProblem.message)
        return null
      }
      const [key] = isNew ? await sql<{ email: string }[]>`select lower(${email}) as email` : []
      if (key && known.has(key.email))
        report.leave('users whose email address Cuewire has: name, password and roles there stay', email)
      else if (!isVerifiablePasswordHash(hash))
        report.leave('passwords of users that must be set anew', email)
      if (read.text(row, 'two_factor_secret')) report.leave('second factors of users', email)
      return {
        sourceId,
        email,
        name: cleanLine(read.text(row, 'name') ?? '', 255),
        hash: isVerifiablePasswordHash(hash) ? hash : null,
        locale: cleanLine(read.text(row, 'locale') ?? '', 25) || null,
        has24Hours: read.text(row, 'show_24_hour_time') === null ? null : read.flag(row, 'show_24_hour_time'),
        createdAt: readUsableTime(read, row, 'created_at', onProblem) ?? Date.now()
      }
    },
    async write(tx, users) {
      for (const { sourceId, email, name, hash, locale, has24Hours, createdAt } of users) {
        const [existing] = await tx<
          { id: number }[]
        >`select id from users where lower(email) = lower(${email})`
        if (existing) {
          await ids.equate(tx, 'user', sourceId, existing.id)
          continue
        }
        const [id] = await ids.assign(tx, 'user', [{ id: sourceId }])
        const created = new Date(createdAt).toISOString()
        await insertRows(tx, 'users', [
          { id, email, name, password_hash: hash, locale, show_24_hour_time: has24Hours, created_at: created }
        ])
        const roleIds = (userRoles.get(sourceId) ?? [])
          .map(roleId => ids.find('role', roleId))
          .filter(found => found !== null)
        await insertRows(
          tx,
          'user_roles',
          roleIds.map(roleId => ({ user_id: id, role_id: roleId })),
          { role_id: 'roles' }
        )
      }
    }
  })
}

/** Reads the roles of each user, by their ids in AzuraCast. */
async function readUserRoles(migration: AzuracastMigration): Promise<Map<number, number[]>> {
  const roles = new Map<number, number[]>()
  for await (const { row, read } of readSourceRows(migration, 'user_has_role')) {
    const userId = read.number(row, 'user_id')
    roles.set(userId, [...(roles.get(userId) ?? []), read.number(row, 'role_id')])
  }
  return roles
}

const sha512 = /^[0-9a-f]{128}$/

/**
 * API keys continue to work: their SHA-512 verifiers are kept. A key has the permissions of its user, and is answered
 * in the dialect of AzuraCast, whose clients use it.
 */
async function migrateApiKeys(migration: AzuracastMigration): Promise<void> {
  const { ids, report, isDryRun, sql } = migration
  const rows: {
    name: string
    identifier: string
    verifier: string
    permissions: string[]
    user_id: number
    dialect: Dialect
  }[] = []
  for await (const { row, read } of readSourceRows(migration, 'api_keys')) {
    const identifier = (read.text(row, 'id') ?? '').toLowerCase()
    const verifier = (read.text(row, 'verifier') ?? '').toLowerCase()
    const name = read.text(row, 'comment') || 'AzuraCast'
    const userId = ids.find('user', read.number(row, 'user_id'))
    if (!apiKeyIdentifierPattern.test(identifier) || !sha512.test(verifier)) {
      report.leave('API keys of an unknown form', `${identifier} (${name})`)
      continue
    }
    if (userId === null) report.leave('API keys of users that were not taken', `${identifier} (${name})`)
    else
      rows.push({
        name: cleanLine(name, 200),
        identifier,
        verifier: `\\x${verifier}`,
        permissions: [],
        user_id: userId,
        dialect: 'azuracast'
      })
  }
  const kept = isDryRun ? rows : await leaveOutDeletedUsers(migration, rows)
  const known = await sql<{ identifier: string }[]>`
    select identifier from api_keys where identifier = any(${kept.map(({ identifier }) => identifier)}::text[])`
  if (kept.length > 0) report.take('API keys', kept.length, kept.length - known.length)
  if (!isDryRun) await sql.begin(async tx => insertRows(tx, 'api_keys', kept, { user_id: 'users' }))
}

/** Leaves out the keys of users that were deleted in Cuewire after an earlier run. */
async function leaveOutDeletedUsers<Key extends { readonly name: string; readonly user_id: number }>(
  { sql, report }: AzuracastMigration,
  keys: readonly Key[]
): Promise<Key[]> {
  const users = await sql<{ id: number }[]>`
    select id from users where id = any(${keys.map(key => key.user_id)}::bigint[])`
  const ids = new Set(users.map(({ id }) => id))
  return keys.filter(({ name, user_id: userId }) => {
    if (!ids.has(userId)) report.leave('API keys of users that were deleted in Cuewire', name)
    return ids.has(userId)
  })
}
