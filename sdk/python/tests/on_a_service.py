"""Tests against the service at SERVICE_WORKSPACE. The service's own tests run this file (test/sdk/service.test.ts)."""

from __future__ import annotations

import os
import unittest

from governed_context_service import CallOptions, Client, FileToUpload, ServiceError, paginate
from governed_context_service.types import ActionInput, AgentflowInput

GREETER: AgentflowInput = {"name": "Greeter", "agents": [{"title": "Greeter", "prompt": {"template": "Greet {{ goal }}"}}]}


class OnAService(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client()
        self.gateway, self.platform = self.client.gateway, self.client.platform


class Context(OnAService):
    def test_is_saved_queried_and_inspected(self) -> None:
        gateway = self.gateway
        saved = gateway.save_context(
            entities=[{"id": "acme", "type": "Customer", "name": "Acme", "properties": {"city": "Oslo"}}],
            facts=[{"subject": "acme", "predicate": "tier", "object": "gold"}],
            source="python",
        )
        self.assertEqual((saved["ids"], saved["saved"]["facts"]), (["acme"], 1))
        query = "MATCH (c:Customer) WHERE c.project_id = $project_id AND c.city = $city RETURN c"
        answer = gateway.query_context(query, params={"city": "Oslo"}, limit=5)
        self.assertEqual(([entity["name"] for entity in answer["entities"]], answer["limit"], answer["truncated"]), (["Acme"], 5, False))
        self.assertEqual(gateway.lifecycle(answer["lifecycle_id"])["status"], "completed")
        self.assertEqual([record["tool"] for record in paginate(gateway.lifecycles, limit=1)], ["query-context", "save-context"])
        self.assertEqual(gateway.ingest_catalog("catalog", entities=[{"type": "Table", "name": "orders"}])["saved"]["entities"], 1)
        self.assertEqual(gateway.ontology()["version"], 0)
        self.assertTrue(gateway.verify_audit()["valid"])
        self.assertEqual(len(gateway.audit_entries(limit=1).data), 1)
        self.assertGreater(gateway.policy_decisions().total_count, 0)


class Tools(OnAService):
    def test_are_called_tried_and_typed(self) -> None:
        gateway = self.gateway
        self.assertEqual(gateway.docs()["auth_kind"], "api_key")
        self.assertEqual(gateway.dry_run("save-model", {"model": "small"})["would"]["save"]["model"], "small")
        self.assertIsNone(gateway.save_model("small")["max_tokens"])
        self.assertEqual(gateway.save_skill({"name": "Look up"})["name"], "Look up")
        self.assertIsNone(gateway.bind_repository("octo/of-the-python-sdk")["branch"])
        self.assertEqual((gateway.set_mode("governed")["mode"], gateway.mode()["mode"]), ("governed", "governed"))
        self.assertIn("policies", gateway.request("GET", "/v1/policies"))


class Refusals(OnAService):
    def test_tell_their_stage(self) -> None:
        with self.assertRaises(ServiceError) as caught:
            self.gateway.query_context("CREATE (n) RETURN n")
        error = caught.exception
        self.assertEqual((error.status, error.error), (422, "S4:validate-input"))
        stage = self.gateway.lifecycle(error.lifecycle_id or "")["stages"][-1]
        self.assertEqual((stage["stage"], stage["status"]), ("S4:validate-input", "failed"))
        with self.assertRaises(ServiceError) as missing:
            self.platform.agentflows.get("none")
        self.assertEqual((missing.exception.status, missing.exception.error), (404, "not_found"))


class Approvals(OnAService):
    def test_are_waited_for_and_used_with_their_token(self) -> None:
        gateway, approver = self.gateway, Client(api_key=os.environ["COLLEAGUE_API_KEY"]).gateway
        ask = {"policy_id": "ask", "effect": "require_approval", "tools": ["save-model"]}
        gateway.request("PUT", "/v1/policies", body={"policies": [{"policy_id": "all", "effect": "permit"}, ask]})
        approval_id = self._held()
        self.assertEqual([approval["approval_id"] for approval in approver.approvals(status="pending").data], [approval_id])
        self.assertEqual(approver.approve(approval_id, "go on")["votes"][0]["comment"], "go on")
        token = gateway.approval(approval_id).get("resume_token")
        self.assertEqual(gateway.save_model("large", options=CallOptions(resume_token=token))["model"], "large")
        self.assertEqual(approver.reject(self._held())["status"], "rejected")

    def _held(self) -> str:
        with self.assertRaises(ServiceError) as caught:
            self.gateway.save_model("large")
        self.assertEqual((caught.exception.status, caught.exception.error), (202, "pending_approval"))
        return caught.exception.approval_id or ""


class Executions(OnAService):
    def test_are_run_to_their_end_and_followed(self) -> None:
        agentflows, executions = self.platform.agentflows, self.platform.executions
        flow = agentflows.create(GREETER)["_id"]
        news = self.platform.events()
        self.assertEqual(next(news)["type"], "opened")
        id = executions.create(flow, "the team")["execution_id"]
        self.assertEqual(executions.execute(id), {"execution_id": id, "status": "ready"})
        ended = executions.wait_for_end(id, timeout=60)
        self.assertEqual((ended["status"], ended["agents_output"][0]["title"]), ("completed", "Greeter"))
        next(event for event in news if event["type"] == "execution_ended")
        news.close()
        seen = [event["seq"] for event in executions.events(id) if "seq" in event]
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        self.assertEqual([event["seq"] for event in executions.events(id, 2) if "seq" in event], seen[2:])
        self.assertEqual(executions.monitoring(id)["steps"][0]["status"], "completed")
        self.assertEqual(executions.list(status="completed", agentflow_id=flow).total_count, 1)
        self.assertEqual(executions.rerun(id)["execution_context"]["rerun_of"], id)
        self.assertEqual(agentflows.update(flow, {"description": "Greets"})["description"], "Greets")
        self.assertEqual(agentflows.promote(flow)["version"], 1)
        self.assertEqual(agentflows.publish(flow, {"note": "Greets"})["version"], 2)
        self.assertEqual(agentflows.point(flow, "staging", {"version": 2, "expected": None})["channel"], "staging")
        self.assertEqual([each["version"] for each in agentflows.channels(flow)["channels"]], [1, 2])
        self.assertEqual([each["version"] for each in agentflows.history(flow, "production").data], [1])
        self.assertEqual(agentflows.releases(flow).data[0]["version"], 2)
        self.assertEqual(agentflows.release(flow, 1)["version"], 1)
        self.assertEqual(agentflows.diff(flow, from_="1", to="staging")["changes"], [])
        run = self.gateway.run_agent(flow, "the newcomer")["execution_id"]
        self.assertEqual(executions.wait_for_end(run)["status"], "completed")
        orchestrated = self.gateway.orchestrate("get", run)
        assert "execution" in orchestrated
        self.assertEqual(orchestrated["execution"]["status"], "completed")


class Moves(OnAService):
    def test_pause_resume_and_cancel_a_run(self) -> None:
        action: ActionInput = {"name": "Call", "endpoint": os.environ["HELD_URL"]}
        flow: AgentflowInput = {"name": "Caller", "agents": [{"title": "Caller", "skills": [{"name": "Calls", "actions": [action]}]}]}
        executions = self.platform.executions
        id = executions.create(self.platform.agentflows.create(flow)["_id"], "goal")["execution_id"]
        executions.execute(id)
        events = executions.events(id)
        next(event for event in events if event["type"] == "step_started")
        events.close()
        self.assertEqual(executions.pause(id, "maintenance"), {"execution_id": id, "status": "paused"})
        with self.assertRaises(TimeoutError):
            executions.wait_for_end(id, timeout=0.2)
        self.assertEqual(executions.resume(id)["status"], "running")
        with self.assertRaises(ServiceError) as caught:
            executions.resume(id)
        self.assertEqual((caught.exception.status, caught.exception.error), (409, "conflict"))
        self.assertEqual(executions.cancel(id, "enough")["status"], "failed")
        self.assertEqual(executions.wait_for_end(id)["execution_context"]["failure"]["reason"], "cancelled")


class Records(OnAService):
    def test_of_schedules(self) -> None:
        schedules = self.platform.schedules
        flow = self.platform.agentflows.create(GREETER)["_id"]
        id = schedules.create({"coworker_id": flow, "goal": "Brief", "type": "interval", "frequency": 86_400})["_id"]
        self.assertEqual(len(schedules.runs(id)["next"]), 10)
        self.assertEqual(schedules.update(id, {"status": "paused", "reason": "holidays"})["reason"], "holidays")
        self.assertEqual(schedules.delete(id)["_id"], id)
        self.assertEqual(schedules.list().total_count, 0)

    def test_of_tables(self) -> None:
        tables = self.platform.tables
        id = tables.create("Leads", [{"column_name": "Company", "column_type": "string"}, {"column_name": "Price", "column_type": "number"}])["_id"]
        tables.insert_rows(id, [{"company": "Fjord", "price": 1}, {"company": "Berg", "price": 20}])
        dal = tables.insert_row(id, {"company": "Dal", "price": 30})["_id"]
        tables.update_record(id, dal, {"price": 31})
        found = tables.records(id, filter={"price": {"gte": 10}}, sort="price").data
        self.assertEqual([(record["company"], record["price"]) for record in found], [("Berg", 20), ("Dal", 31)])
        self.assertEqual(tables.delete_record(id, dal)["_id"], dal)
        self.assertEqual([table["table_name"] for table in paginate(tables.list)], ["Leads"])

    def test_of_files(self) -> None:
        files = self.platform.files
        [file] = files.upload([FileToUpload("note æ.txt", "blåbær".encode(), "text/plain")], tags=["a", "b"])
        self.assertEqual((file["name"], file["tags"], file["status"]), ("note æ.txt", ["a", "b"], "ready"))
        self.assertEqual(files.download(file["_id"]).decode(), "blåbær")

    def test_of_other_routes(self) -> None:
        self.assertIn("data", self.client.call("get", "/marketplace"))
        self.assertIn("# HELP", self.client.call("get", "/metrics"))
        self.assertIn("data", self.platform.request("GET", "/marketplace"))
