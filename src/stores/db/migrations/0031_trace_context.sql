-- The span of the change that caused an event (W3C Trace Context), so that the delivery belongs to its trace; null if traces are off.
alter table webhook_events add trace_context text;
