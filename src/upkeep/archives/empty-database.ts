import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Tx } from '../../stores/db/sql.ts'

/** Processes that write, by their names in `pg_stat_activity`. */
const writers = '^cuewire (server|workers|start|import|migration)'

/** Throws an `OperatorError` while processes of Cuewire are connected to the database. */
export async function assertDatabaseNotInUse(tx: Tx): Promise<void> {
  const rows = await tx<{ name: string }[]>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name ~ ${writers} order by 1`
  if (rows.length === 0) return
  throw new OperatorError(
    `the database is in use (${rows.map(({ name }) => name).join(', ')}): stop all processes of Cuewire first`
  )
}

const maxNamed = 5

/**
 * What happens to a database that has tables of Cuewire: it is refused, everything in it is deleted, or it is refused
 * with a hint at the option `--replace` of the command.
 */
export type NotEmptyPolicy = 'refuse' | 'replace' | 'refuse, suggest --replace'

/** Makes sure that the database has no tables. Throws an `OperatorError` if it has some, or is of another program. */
export async function emptyDatabase(tx: Tx, ifNotEmpty: NotEmptyPolicy): Promise<void> {
  const [schema] = await tx<{ name: string | null }[]>`select current_schema() as name`
  if (!schema?.name)
    throw new OperatorError('the database has no schema to create tables in: create the schema "public"')
  const tables = await findTables(tx)
  if (tables.length === 0) return
  const named = tables.slice(0, maxNamed).join(', ')
  const list = tables.length > maxNamed ? `${named} and ${tables.length - maxNamed} more` : named
  if (!tables.includes('migrations'))
    throw new OperatorError(
      `the database belongs to another program (it has the tables ${list}): use an empty one`
    )
  if (ifNotEmpty !== 'replace') {
    const advice = ifNotEmpty === 'refuse' ? '' : ', or --replace to delete all data in it'
    throw new OperatorError(
      `the database is not empty (it has the tables ${list}): use an empty one${advice}`
    )
  }
  await tx.unsafe((await listDrops(tx)).join(';\n'))
}

async function findTables(tx: Tx): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select relname as name from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
      and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e')
    order by relname`
  return rows.map(({ name }) => name)
}

/** The statements that remove everything from the schema but what extensions own. */
async function listDrops(tx: Tx): Promise<string[]> {
  const rows = await tx<{ statement: string }[]>`
    with owned as (select classid, objid from pg_depend where deptype = 'e')
    select statement from (
      select 1 as place, format('drop %s if exists %s cascade',
        case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end,
        c.oid::regclass) as statement
      from pg_class c where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
        and not exists (select from owned where classid = 'pg_class'::regclass and objid = c.oid)
      union all
      select 2, format('drop sequence if exists %s cascade', c.oid::regclass)
      from pg_class c where relnamespace = current_schema()::regnamespace and relkind = 'S'
        and not exists (select from owned where classid = 'pg_class'::regclass and objid = c.oid)
      union all
      select 3, format('drop routine if exists %s cascade', p.oid::regprocedure)
      from pg_proc p where pronamespace = current_schema()::regnamespace
        and not exists (select from owned where classid = 'pg_proc'::regclass and objid = p.oid)
      union all
      select 4, format('drop type if exists %s cascade', t.oid::regtype)
      from pg_type t where typnamespace = current_schema()::regnamespace and typtype in ('e', 'd')
        and not exists (select from owned where classid = 'pg_type'::regclass and objid = t.oid)
    ) s order by place, statement`
  return rows.map(({ statement }) => statement)
}
