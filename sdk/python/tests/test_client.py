from __future__ import annotations

import os
import pickle
from unittest import mock

from governed_context_service import CallOptions, Client, FileToUpload, ServiceError, paginate

from .fake_service import Answer, WithFakeService

NO_WORKSPACES = ("ws_p1", "https://host", "https://host/v1", "https://host/ws_", "ftp://host/ws_p1", "https://u:p@host/ws_p1", "https://host/ws_p1?x=1")
EVENT = 'id: {0}\nevent: step\ndata: {{"seq": {0}, "type": "step", "at": 1, "data": {{}}}}\n\n'
WORDS = 'event: model_delta\ndata: {"type": "model_delta", "at": 1, "data": {"text": "Hello"}}\n\n'


class Connection(WithFakeService):
    def test_is_read_from_the_environment_and_from_connection_info(self) -> None:
        self.answer(Answer(200, {}))
        self.service.api_base = f"{self.service.url}/elsewhere/v1"
        with mock.patch.dict(os.environ, {"SERVICE_WORKSPACE": f"{self.service.url}/prefix/ws_p1/", "SERVICE_API_KEY": "svc_sk_env"}):
            client = Client()
        client.gateway.docs()
        client.platform.agentflows.get("a/b")
        gateway, platform = self.service.asked
        self.assertEqual((gateway.path, gateway.headers["authorization"], gateway.headers["x-fake-workspace"]), ("/elsewhere/v1/docs", "Bearer svc_sk_env", "ws_p1"))
        self.assertEqual((platform.path, platform.headers["x-api-key"]), ("/elsewhere/agentflow/a%2Fb", "svc_sk_env"))

    def test_is_refused_without_a_workspace_url_or_a_key(self) -> None:
        with mock.patch.dict(os.environ, clear=True):
            with self.assertRaisesRegex(ValueError, "SERVICE_WORKSPACE"):
                Client(api_key="svc_sk_test")
            with self.assertRaisesRegex(ValueError, "SERVICE_API_KEY"):
                Client("https://host/ws_p1")
            for workspace in NO_WORKSPACES:
                with self.subTest(workspace=workspace), self.assertRaisesRegex(ValueError, "must be a workspace URL"):
                    Client(workspace, "svc_sk_test")

    def test_sends_no_key_from_an_https_workspace_to_a_plain_http_address(self) -> None:
        client = Client("https://host/ws_p1", "svc_sk_test")
        with mock.patch.object(client.gateway._transport, "connection_info", return_value={"apiBaseUrl": "http://host/v1"}):
            with self.assertRaisesRegex(ValueError, "no key is sent"):
                client.gateway.docs()


class Calls(WithFakeService):
    def test_repeat_a_platform_post_under_one_key_and_make_the_next_under_another(self) -> None:
        self.answer(Answer(500), Answer(201, {"_id": "flow"}))
        platform = self.client().platform
        platform.agentflows.create({"name": "a"})
        platform.agentflows.create({"name": "a"})
        platform.request("POST", "/tag", body={"name": "a"}, options=CallOptions(idempotency_key="mine"))
        first, second, third, fourth = (asked.headers["idempotency-key"] for asked in self.service.asked)
        self.assertEqual(first, second)
        self.assertNotEqual(second, third)
        self.assertEqual(fourth, "mine")

    def test_reach_any_operation_of_the_api_reference_in_the_project_of_the_client(self) -> None:
        self.answer(Answer(500), Answer(200, {}))
        client = self.client()
        client.call("post", "/tag", body={"name": "a"})
        client.call("get", "/{projectID}/execution_flows", query={"status": "failed"})
        client.call("get", "/tag", query={"projectID": "p2"})
        client.call("put", "/v1/projects/{projectId}/mode", body={"mode": "governed"})
        client.call("post", "/v1/approvals/{id}/approve", params={"id": "a/1"})
        sent = [(f"{asked.method} {asked.path}", "authorization" in asked.headers, "idempotency-key" in asked.headers) for asked in self.service.asked]
        self.assertEqual(
            sent,
            [
                ("POST /tag?projectID=p1", False, True),
                ("POST /tag?projectID=p1", False, True),
                ("GET /p1/execution_flows?status=failed", False, False),
                ("GET /tag?projectID=p2", False, False),
                ("PUT /v1/projects/p1/mode", True, False),
                ("POST /v1/approvals/a%2F1/approve", True, True),
            ],
        )

    def test_refuse_an_operation_that_the_api_does_not_have_and_a_parameter_that_is_missing(self) -> None:
        with self.assertRaisesRegex(ValueError, "the API has no operation get /nothing"):
            self.client().call("get", "/nothing")  # type: ignore[call-overload]
        with self.assertRaisesRegex(ValueError, "get /task/{id} needs params\\['id'\\]"):
            self.client().call("get", "/task/{id}")  # type: ignore[call-overload]

    def test_take_a_call_that_waits_for_approval_for_an_error_and_send_it_again_with_its_token(self) -> None:
        self.answer(Answer(202, {"lifecycle_id": "l1", "status": "pending_approval", "approval_id": "a1", "expires_at": 5}), Answer(200, {"saved": {}}))
        gateway = self.client().gateway
        with self.assertRaises(ServiceError) as caught:
            gateway.save_context(source="x")
        error = caught.exception
        self.assertEqual((error.status, error.error, error.approval_id, error.lifecycle_id, error.expires_at), (202, "pending_approval", "a1", "l1", 5))
        gateway.save_context(source="x", options=CallOptions(resume_token="token"))
        self.assertEqual(self.service.asked[1].headers["x-resume-token"], "token")

    def test_raise_errors_that_can_be_shown_and_sent_to_another_process(self) -> None:
        error = ServiceError(403, {"error": "S5:policy", "error_description": "Nobody lists."})
        self.assertEqual(str(error), "403 S5:policy: Nobody lists.")
        self.assertEqual(pickle.loads(pickle.dumps(error)).error, "S5:policy")

    def test_read_every_page(self) -> None:
        pages = ({"data": [{"_id": id}], "total_count": 2, "next_cursor": cursor} for id, cursor in (("1", "c"), ("2", None)))
        self.answer(*(Answer(200, page) for page in pages))
        self.assertEqual([flow["_id"] for flow in paginate(self.client().platform.agentflows.list, limit=1)], ["1", "2"])
        self.assertTrue(self.service.asked[1].path.endswith("limit=1&cursor=c"))

    def test_follow_events_over_a_broken_stream(self) -> None:
        broken = EVENT.format(1) + EVENT.format(2) + WORDS + 'id: 3\ndata: {"seq":'
        again = EVENT.format(3).replace("\n", "\r\n")
        self.answer(Answer(200, broken), Answer(200, ": still here\n\n"), Answer(200, again), Answer(204, ""))
        events = self.client().platform.executions.events("e1")
        self.assertEqual([event["data"]["text"] if event["type"] == "model_delta" else event.get("seq") for event in events], [1, 2, "Hello", 3])
        self.assertEqual([asked.headers.get("last-event-id") for asked in self.service.asked], [None, "2", "2", "3"])

    def test_give_up_on_events_after_as_many_failures_in_a_row_as_attempts(self) -> None:
        client = self.client(max_attempts=3)
        client.connection_info()
        self.service.close()
        with self.assertRaises(OSError):
            list(client.platform.executions.events("e1"))
        self.assertEqual(len(self.waits), 2)

    def test_wait_for_the_end_no_longer_than_they_are_told(self) -> None:
        self.answer(Answer(200, ": still here\n\n"))
        with self.assertRaises(TimeoutError):
            self.client().platform.executions.wait_for_end("e1", timeout=0.1)

    def test_name_files_so_that_a_name_cannot_end_its_header(self) -> None:
        self.answer(Answer(201, {"data": []}))
        self.client().platform.files.upload([FileToUpload('a"\r\nX: y', b"1")])
        self.assertIn(b'filename="a%22%0D%0AX: y"\r\n', self.service.asked[0].body)
