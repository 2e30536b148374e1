import { randomBytes } from 'node:crypto'

import postgres from 'postgres'

import { openSql, type Sql } from '../../src/stores/db/sql.ts'

/** A migrated, empty database for one user at a time. */
interface TestDatabase {
  readonly url: string
  /**
   * A pool of five connections that is passed to the next user: statements are faster on used connections.
   */
  readonly sql: Sql
  /**
   * Closes all other connections and empties the database for the next user. A database whose schema was
   * changed is dropped.
   */
  readonly giveBack: () => Promise<void>
}

/** The databases of one Vitest worker. */
export interface TestDatabases {
  readonly take: () => Promise<TestDatabase>
  readonly close: () => Promise<void>
}

/**
 * Opens copies of a template that `prepareTemplate` has prepared. Emptying a copy is faster than creating
 * one.
 */
export function openDatabases(templateUrl: string): TestDatabases {
  const template = new URL(templateUrl)
  const server = openConnection(template, 'postgres')
  const copies = new Set<Copy>()
  const idle: Copy[] = []

  const make = async (): Promise<Copy> => {
    const name = `cuewire_test_${randomBytes(6).toString('hex')}`
    // Copies files instead of writing each page to the WAL as well.
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
        // The program caches rows by pool, and stations of two users have the same ids, so each user gets a
        // new object.
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

/**
 * A copy of the template with a persistent connection: on a new one each statement takes five times as long.
 */
interface Copy {
  readonly name: string
  readonly own: postgres.Sql
  readonly sql: Sql
}

/** Concurrent tests have many databases, and the number of connections is limited. */
const maxIdle = 2
const poolOptions = { max: 5, name: 'test' }

/** Returns true if no other work remains. */
async function empty({ own }: Copy): Promise<boolean> {
  await own`
    select pg_terminate_backend(pid, 10_000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and not (application_name = 'cuewire test' and state = 'idle')`
  const [row] = await own<{ isAsBefore: boolean }[]>`select for_tests.empty() as "isAsBefore"`
  return row?.isAsBefore ?? false
}

/**
 * Adds a function to a migrated database for the copies of `openDatabases`. It empties all tables but the roles of the
 * program, restarts their sequences, and returns whether the schema and the names of the migrations are unchanged.
 * Deleting a few rows takes a tenth of the time of `truncate`, which creates new files for a table, its indexes and all
 * tables that refer to it.
 */
export async function prepareTemplate(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    create schema for_tests;

    create table for_tests.state as
      select false as is_changed, (select string_agg(name, ',' order by name) from migrations) as migrations;

    create function for_tests.note() returns event_trigger language plpgsql as $$
    begin
      update for_tests.state set is_changed = true;
    end
    $$;

    create function for_tests.empty() returns boolean language plpgsql as $$
    declare
      name text;
      bytes bigint;
      grown text[] := '{}';
    begin
      if exists (
        select from for_tests.state
        where is_changed or migrations <> (select string_agg(m.name, ',' order by m.name) from migrations m)
      ) then
        return false;
      end if;
      -- Without triggers and checks of references.
      set local session_replication_role = replica;
      for name, bytes in
        select quote_ident(relname), pg_relation_size(oid) from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r'
          and relname not in ('migrations', 'roles')
      loop
        if bytes > 64 * 1024 then
          grown := grown || name;
        elsif bytes > 0 then
          execute 'delete from ' || name;
        end if;
      end loop;
      if cardinality(grown) > 0 then
        execute 'truncate ' || array_to_string(grown, ', ') || ' cascade';
      end if;
      delete from roles where builtin is null;
      perform setval(format('%I', sequencename)::regclass, start_value, false) from pg_sequences
        where schemaname = 'public' and last_value is not null and sequencename <> 'roles_id_seq';
      return true;
    end
    $$;

    -- Revisions are raised by changeStation and its named exceptions only.
    create function for_tests.refuse_revision() returns trigger language plpgsql as $$
    begin
      if current_setting('cuewire.raises_revision', true) is distinct from 'on' then
        raise exception 'revision of station % raised outside of changeStation', new.id;
      end if;
      return null;
    end
    $$;
    create trigger refuse_revision after update on stations for each row
      when (old.revision is distinct from new.revision) execute function for_tests.refuse_revision();

    create event trigger note_change on ddl_command_end execute function for_tests.note()`)
}

function urlOf(template: URL, database: string): string {
  const url = new URL(template)
  url.pathname = `/${database}`
  return url.href
}

/** A single connection. The template must have no connections while it is copied. */
function openConnection(template: URL, database: string): postgres.Sql {
  return postgres(urlOf(template, database), { max: 1, fetch_types: false, onnotice: () => {} })
}
