-- Who made an invitation: a user, or a key that belongs to none. Plain ids, so that it is known when they are gone. Both are
-- null in rows of earlier releases, which expire within 30 days.
alter table invitations add inviter_user_id bigint, add inviter_key_id bigint;
