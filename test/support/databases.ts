import { randomBytes } from 'node:crypto'

import postgres from 'postgres'

import { openSql, type Sql } from '../../src/db/sql.ts'

/** A migrated, empty database of one user at a time. */
export interface TestDatabase {
  readonly url: string
  /** A pool of five connections, which the next user gets as well: statements are quicker on those that others used. */
  readonly sql: Sql
  /** Ends all other connections to it and empties it for the next user; one whose schema was changed is dropped. */
  readonly giveBack: () => Promise<void>
}

/** Databases of one worker. */
export interface TestDatabases {
  readonly take: () => Promise<TestDatabase>
  readonly close: () => Promise<void>
}

/**
 * Opens copies of a template that `prepareTemplate` has seen. To empty one takes less time than to make one.
 */
export function openDatabases(templateUrl: string): TestDatabases {
  const template = new URL(templateUrl)
  const server = openConnection(template, 'postgres')
  const copies = new Set<Copy>()
  const idle: Copy[] = []

  const make = async (): Promise<Copy> => {
    const name = `cuewire_test_${randomBytes(6).toString('hex')}`
    // Copies files instead of writing each page to the log as well.
    await server`create database ${server(name)} template ${server(template.pathname.slice(1))} strategy file_copy`
    const copy = {
      name,
      own: openConnection(template, name),
      sql: openSql(urlOf(template, name), poolOptions)
    }
    copies.add(copy)
    return copy
  }
  const drop = async (copy: Copy): Promise<void> => {
    await Promise.all([copy.own, copy.sql].map(async each => each.end({ timeout: 5 })))
    await server`drop database if exists ${server(copy.name)} with (force)`
    copies.delete(copy)
  }
  return {
    take: async () => {
      const copy = idle.pop() ?? (await make())
      return {
        url: urlOf(template, copy.name),
        // The program remembers rows by pool, and stations of two users have the same ids: each gets an object of its own.
        sql: new Proxy(copy.sql, {}),
        giveBack: async () => {
          if (idle.length < maxIdle && (await empty(copy))) idle.push(copy)
          else await drop(copy)
        }
      }
    },
    close: async () => {
      for (const copy of copies) await drop(copy)
      await server.end({ timeout: 5 })
    }
  }
}

/** A copy of the template, and a connection that stays: in a new one each statement takes five times as long. */
interface Copy {
  readonly name: string
  readonly own: postgres.Sql
  readonly sql: Sql
}

/** Tests that run at the same moment have many, and connections are few. */
const maxIdle = 2
const poolOptions = { max: 5, name: 'test' }

/** Returns whether nothing else remains to be done. */
async function empty({ own }: Copy): Promise<boolean> {
  await own`
    select pg_terminate_backend(pid, 10_000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and not (application_name = 'cuewire test' and state = 'idle')`
  const [row] = await own<{ isAsBefore: boolean }[]>`select for_tests.empty() as "isAsBefore"`
  return row?.isAsBefore ?? false
}

/**
 * Puts into a migrated database what `openDatabases` needs in its copies: a function that empties all tables which are empty now,
 * starts all sequences anew, and returns whether the schema and the names of the migrations are as they are now.
 */
export async function prepareTemplate(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    create schema for_tests;

    create function for_tests.schema_now() returns text language sql as $$
      select md5(concat(
        (select string_agg(name, ',' order by name) from migrations),
        (select string_agg(concat_ws(' ', relname, relkind, reloptions, relhastriggers, relrowsecurity), ',' order by relname)
          from pg_class where relnamespace = 'public'::regnamespace),
        (select string_agg(concat_ws(' ', attrelid::regclass, attnum, attname, atttypid, attnotnull, atthasdef), ',' order by attrelid, attnum)
          from pg_attribute where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r')),
        (select string_agg(concat_ws(' ', conrelid, conname, contype, convalidated), ',' order by conrelid, conname)
          from pg_constraint where connamespace = 'public'::regnamespace),
        (select string_agg(concat_ws(' ', tgrelid, tgname, tgenabled), ',' order by tgrelid, tgname) from pg_trigger),
        (select string_agg(concat_ws(' ', proname, md5(prosrc)), ',' order by oid)
          from pg_proc where pronamespace = 'public'::regnamespace)
      ))
    $$;

    create table for_tests.template as select for_tests.schema_now() as schema;

    create function for_tests.empty() returns boolean language plpgsql as $$
    declare
      name text;
      filled text[] := '{}';
      has_rows boolean;
    begin
      if for_tests.schema_now() is distinct from (select schema from for_tests.template) then
        return false;
      end if;
      for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'migrations' loop
        execute format('select exists(select from %I)', name) into has_rows;
        if has_rows then
          filled := filled || quote_ident(name);
        end if;
      end loop;
      if cardinality(filled) > 0 then
        execute 'truncate ' || array_to_string(filled, ', ') || ' cascade';
      end if;
      for name in select sequencename from pg_sequences where schemaname = 'public' and last_value is not null loop
        execute format('alter sequence %I restart', name);
      end loop;
      return true;
    end
    $$`)
}

function urlOf(template: URL, database: string): string {
  const url = new URL(template)
  url.pathname = `/${database}`
  return url.href
}

/** One connection. To the template there is none: nobody may be connected to a database while it is copied. */
function openConnection(template: URL, database: string): postgres.Sql {
  return postgres(urlOf(template, database), { max: 1, fetch_types: false, onnotice: () => {} })
}
